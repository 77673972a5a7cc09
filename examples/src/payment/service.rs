use std::{future::Future, sync::Arc};

use resilience::{IdempotencyKey, Resilience, with_idempotency_key};
use tokio_util::task::TaskTracker;

use super::{
    Callback, Charge, Created, Payment, PaymentError, PaymentRequest, PaymentStatus, PaymentStore,
    ProviderClient, SettledBy, Settlement, Verdict,
};

/// Makes payments.
#[derive(Debug, Clone)]
pub struct PaymentService {
    pub(super) store: PaymentStore,
    providers: Arc<Providers>,
    registry: Resilience,
    /// What is carried through although nobody waits for it.
    beside: TaskTracker,
}

/// Who can be asked for money: the first one is, and each of the others if those before it cannot be.
#[derive(Debug)]
pub struct Providers {
    /// Who is asked.
    pub first: ProviderClient,
    /// Who is asked else, in this order.
    pub others: Vec<ProviderClient>,
}

impl Providers {
    /// The provider of this name.
    pub(super) fn named(&self, name: &str) -> Option<&ProviderClient> {
        self.in_turn().find(|provider| provider.name() == name)
    }

    fn in_turn(&self) -> impl Iterator<Item = &ProviderClient> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl PaymentService {
    /// Makes payments with these providers, under the protections of `registry`.
    pub fn new(store: PaymentStore, providers: Providers, registry: Resilience) -> Self {
        Self { store, providers: Arc::new(providers), registry, beside: TaskTracker::new() }
    }

    /// The payments that nobody waits for, except who ends the process.
    pub fn beside(&self) -> &TaskTracker {
        &self.beside
    }

    /// Makes a payment, or tells what is known about the one that the key already names.
    ///
    /// # Errors
    ///
    /// If the payment was declined, is in progress, or the key names another one.
    ///
    /// # Cancel safety
    ///
    /// A payment that was begun is carried through: the provider may have charged, and the outcome
    /// must be stored although nobody waits for it.
    pub async fn pay(&self, key: &str, request: PaymentRequest) -> Result<Payment, PaymentError> {
        if request.amount <= 0 {
            return Err(PaymentError::InvalidAmount(request.amount));
        }
        let (service, key) = (self.clone(), key.to_owned());
        self.carried_through(async move { service.begin(&key, &request).await }).await?
    }

    /// Finds the payment that the key names.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn find(&self, key: &str) -> Result<Option<Payment>, PaymentError> {
        Ok(self.store.find(key).await?)
    }

    /// Takes what the provider reports by itself; `None` if there is no such payment. However often it
    /// reports, the first report counts.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn take(&self, callback: &Callback) -> Result<Option<Payment>, PaymentError> {
        if self.store.find(&callback.reference).await?.is_none() {
            return Ok(None);
        }
        let verdict = callback.verdict.into();
        let payment = self.note(&callback.reference, verdict, SettledBy::Callback).await?;
        Ok(Some(payment))
    }

    /// Says whether the service can work.
    pub async fn is_ready(&self) -> bool {
        self.store.is_ready().await
    }

    /// Runs `work` to its end, also if nobody waits for that.
    pub(super) async fn carried_through<F>(&self, work: F) -> Result<F::Output, PaymentError>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        Ok(self.registry.spawn(self.beside.track_future(work)).await?)
    }

    async fn begin(&self, key: &str, request: &PaymentRequest) -> Result<Payment, PaymentError> {
        match self.store.create(key, request, self.providers.first.name()).await? {
            Created::Existing(payment) => replay(payment, request),
            Created::New(payment) => show(self.ask_in_turn(&payment, SettledBy::Answer).await?),
        }
    }

    /// Takes a payment from the queue, and asks for it as if it were new.
    pub(super) async fn take_from_queue(&self, payment: &Payment) -> sqlx::Result<Payment> {
        let first = Some(self.providers.first.name());
        if self.store.hand(&payment.idempotency_key, None, first).await? {
            self.ask_in_turn(payment, SettledBy::Reconciler).await
        } else {
            self.present(payment).await // somebody else has taken it
        }
    }

    /// Asks the first provider, which the payment is written down for. One that has not seen the
    /// charge, or does not take it, gives way to the next, the last one to the queue; one that may have
    /// taken it never does: two would charge.
    ///
    /// Each step is a transaction of its own with the provider's call between them, never around it:
    /// a slow provider would hold the database for everybody else.
    async fn ask_in_turn(&self, payment: &Payment, by: SettledBy) -> sqlx::Result<Payment> {
        let mut providers = self.providers.in_turn().peekable();
        while let Some(provider) = providers.next() {
            let verdict = self.charge(provider, payment).await;
            if !matches!(verdict, Verdict::NotAsked | Verdict::NotTaken) {
                return self.note(&payment.idempotency_key, verdict, by).await;
            }
            let next = providers.peek().map(|next| next.name());
            if !self.store.hand(&payment.idempotency_key, Some(provider.name()), next).await? {
                break; // a callback knew better
            }
        }
        self.present(payment).await
    }

    /// Asks a provider for the money, under the key that is written down with the payment.
    pub(super) async fn charge(&self, provider: &ProviderClient, payment: &Payment) -> Verdict {
        let key = payment.charge_key.as_ref().and_then(|key| key.parse::<IdempotencyKey>().ok());
        let Some(key) = key else {
            tracing::error!(payment = payment.idempotency_key, "a payment has no key to ask by");
            return Verdict::Unknown;
        };
        let charge = Charge::new(&payment.idempotency_key, payment.amount);
        with_idempotency_key(key, provider.charge(&charge)).await
    }

    /// Stores what became of a payment.
    pub(super) async fn note(
        &self,
        key: &str,
        verdict: Verdict,
        by: SettledBy,
    ) -> sqlx::Result<Payment> {
        let status = match verdict {
            Verdict::Approved => PaymentStatus::Approved,
            Verdict::Declined => PaymentStatus::Rejected,
            Verdict::NotAsked | Verdict::NotTaken | Verdict::Unknown => {
                return self.store.leave_open(key).await;
            }
        };
        let Settlement { payment, is_first } = self.store.settle(key, status, by).await?;
        if is_first {
            tracing::info!(payment = key, ?status, ?by, "a payment is settled");
        }
        Ok(payment)
    }

    /// The provider that a payment was asked of.
    pub(super) fn provider_of(&self, payment: &Payment) -> Option<&ProviderClient> {
        self.providers.named(payment.provider.as_deref()?)
    }

    async fn present(&self, payment: &Payment) -> sqlx::Result<Payment> {
        self.store.find(&payment.idempotency_key).await?.ok_or(sqlx::Error::RowNotFound)
    }
}

/// The answer to a key that was seen before: what is known by now.
fn replay(payment: Payment, request: &PaymentRequest) -> Result<Payment, PaymentError> {
    if !payment.answers(request) {
        return Err(PaymentError::KeyReused);
    }
    if payment.status == PaymentStatus::Requested && !payment.is_queued() {
        return Err(PaymentError::InProgress(payment.idempotency_key));
    }
    show(payment)
}

fn show(payment: Payment) -> Result<Payment, PaymentError> {
    match payment.status {
        PaymentStatus::Rejected => Err(PaymentError::Declined(payment)),
        _ => Ok(payment),
    }
}
