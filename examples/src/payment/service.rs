use resilience::Resilience;

use super::{
    Created, Payment, PaymentError, PaymentRequest, PaymentStatus, PaymentStore, ProviderClient,
    ProviderError, Verdict,
};

/// Makes payments.
#[derive(Debug, Clone)]
pub struct PaymentService {
    store: PaymentStore,
    provider: ProviderClient,
    registry: Resilience,
}

impl PaymentService {
    /// Makes payments with this provider, under the protections of `registry`.
    pub fn new(store: PaymentStore, provider: ProviderClient, registry: Resilience) -> Self {
        Self { store, provider, registry }
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
        self.registry.spawn(async move { service.carry_through(&key, &request).await }).await?
    }

    /// Finds the payment that the key names.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn find(&self, key: &str) -> Result<Option<Payment>, PaymentError> {
        Ok(self.store.find(key).await?)
    }

    /// Says whether the service can work.
    pub async fn is_ready(&self) -> bool {
        self.store.is_ready().await
    }

    /// Two transactions with the provider's call between them, never around it: a slow provider
    /// would hold the database for everybody else.
    async fn carry_through(
        &self,
        key: &str,
        request: &PaymentRequest,
    ) -> Result<Payment, PaymentError> {
        if let Created::Existing(payment) = self.store.create(key, request).await? {
            return replay(payment, request);
        }
        // A charge that an open breaker kept from being asked for is unknown as well: there is one
        // way to settle what was not answered, and it asks under the same key.
        let status = match self.provider.charge(key, request.amount).await {
            Ok(Verdict::Approved) => PaymentStatus::Approved,
            Err(ProviderError::Declined) => PaymentStatus::Rejected,
            Ok(Verdict::Unknown) | Err(_) => PaymentStatus::Timeout,
        };
        show(self.store.settle(key, status).await?)
    }
}

/// The answer to a key that was seen before: what is known by now.
fn replay(payment: Payment, request: &PaymentRequest) -> Result<Payment, PaymentError> {
    if !payment.answers(request) {
        return Err(PaymentError::KeyReused);
    }
    if payment.status == PaymentStatus::Requested {
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
