use std::sync::Arc;

use axum::{extract::Request, middleware::Next, response::Response};
use moka::future::Cache;
use resilience::time_limiter;

use super::{
    AccountClient, AccountError, Lifetimes, Untold, UserId, freshness::Freshness,
    layer::tell_freshness,
};
use crate::web::ApiError;

/// How many answers are remembered; who is forgotten is asked for again.
const CAPACITY: u64 = 100_000;

/// What the account service said about a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    Allowed,
    Denied,
}

/// Whose permission, and by which version of the roles: an answer by an older one is not found.
pub(super) type Question = (UserId, Option<Arc<str>>);

/// Lets in those whom the account service lets in; clones share what it said.
#[derive(Debug, Clone)]
pub struct AccessGate {
    account: AccountClient,
    freshness: Freshness,
    // The one place where an answer is both waited for by all who miss it and kept: between the two
    // nobody can come and ask once more.
    permissions: Cache<Question, Permission>,
}

impl AccessGate {
    /// Asks this account service, and remembers its answers that long.
    pub fn new(account: AccountClient, lifetimes: Lifetimes) -> Self {
        let freshness = Freshness::new(account.clone(), &lifetimes);
        let permissions = Cache::builder().max_capacity(CAPACITY).expire_after(lifetimes).build();
        Self { account, freshness, permissions }
    }

    /// Runs the request if the user may make it.
    ///
    /// # Errors
    ///
    /// 403 if he may not, 503 if that cannot be told; the request has not reached anything then.
    ///
    /// # Cancel safety
    ///
    /// Until the request runs nothing was done on its behalf; then it is the request's own.
    pub async fn admit(
        &self,
        user: UserId,
        request: Request,
        next: Next,
    ) -> Result<Response, ApiError> {
        let known = self.freshness.known().await;
        match self.permission((user, known.version)).await? {
            Permission::Allowed => Ok(tell_freshness(next.run(request).await, known.is_fresh)),
            Permission::Denied => Err(ApiError::forbidden()),
        }
    }

    /// The limit is for those who wait for the answer to somebody else: when he hangs up, the next of
    /// them asks, and so on.
    #[time_limiter(name = "accountWaitTl")]
    async fn permission(&self, question: Question) -> Result<Permission, Untold> {
        let user = question.0;
        let answer = async {
            match self.account.has_service_role(user).await {
                Ok(true) => Ok(Permission::Allowed),
                Ok(false) | Err(AccountError::UnknownUser) => Ok(Permission::Denied),
                Err(error) => Err(error),
            }
        };
        Ok(self.permissions.try_get_with(question, answer).await?)
    }
}
