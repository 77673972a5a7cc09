use axum::body::Bytes;
use resilience::{ConfigError, Resilience, rate_limiter, rate_limiter::Scope};
use tokio_util::task::TaskTracker;

use super::{
    InventoryClient, InventoryError, MailClient, Order, OrderError, OrderRequest, OrderStatus,
    OrderStore, PaymentCallError, PaymentClient, PaymentState, Product,
    clicks::{Click, Clicks},
    confirmations::Confirmations,
};
use crate::{
    inventory::Reservation,
    payment::{Payment, PaymentRequest},
};

/// Places orders.
#[derive(Debug, Clone)]
pub struct OrderService {
    pub(super) store: OrderStore,
    pub(super) inventory: InventoryClient,
    pub(super) payment: PaymentClient,
    confirmations: Confirmations,
    clicks: Clicks,
    pub(super) registry: Resilience,
    /// What is carried through although nobody waits for it.
    pub(super) beside: TaskTracker,
}

impl OrderService {
    /// Places orders with this inventory and this payment service, tells customers by these mails, and
    /// shares what other processes must know of in the store of `registry`, if it has one.
    ///
    /// # Errors
    ///
    /// If clicks are kept for a time that no store takes, which is a mistake of this program.
    pub fn new(
        store: OrderStore,
        inventory: InventoryClient,
        payment: PaymentClient,
        mails: MailClient,
        registry: &Resilience,
    ) -> Result<Self, ConfigError> {
        let clicks = Clicks::of(registry)?;
        let (registry, beside) = (registry.clone(), TaskTracker::new());
        let confirmations = Confirmations::new(mails, registry.clone(), beside.clone());
        Ok(Self { store, inventory, payment, confirmations, clicks, registry, beside })
    }

    /// Places an order and pays it.
    ///
    /// A key that comes again gets the order that it named the first time; one that was left
    /// unfinished is gone on with.
    ///
    /// # Errors
    ///
    /// If it was not placed, or its payment was declined. A payment whose outcome is unknown is no
    /// error: the order stands.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves an order that was written down as ORDERED. One whose payment was begun
    /// is settled like every order whose payment is not known; before, nobody is charged for it, and it
    /// waits for its key to come again until a sweep withdraws it. A withdrawal is carried through.
    #[rate_limiter(name = "orderRl")]
    pub async fn place(
        &self,
        key: Option<&str>,
        request: OrderRequest,
    ) -> Result<Order, OrderError> {
        self.place_once(key, request).await
    }

    /// [`place`](Self::place) at the other entrance, whose limit all order processes share if they have
    /// a store.
    ///
    /// # Errors
    ///
    /// As [`place`](Self::place).
    ///
    /// # Cancel safety
    ///
    /// As [`place`](Self::place).
    #[rate_limiter(name = "orderGlobalRl")]
    pub async fn place_globally(
        &self,
        key: Option<&str>,
        request: OrderRequest,
    ) -> Result<Order, OrderError> {
        self.place_once(key, request).await
    }

    /// Whose limit that of [`place_globally`](Self::place_globally) is.
    pub fn scope(&self) -> Scope {
        self.registry.rate_limiter("orderGlobalRl").config().scope()
    }

    /// Pays an order whose last payment was declined, or whose payment was never begun.
    ///
    /// # Errors
    ///
    /// If there is no such order, it is withdrawn meanwhile, the payment is declined again, somebody else
    /// is paying the order, or the outcome of its last payment is unknown: then it is not paid once more.
    ///
    /// # Cancel safety
    ///
    /// As [`place`](Self::place).
    #[rate_limiter(name = "orderRl")]
    pub async fn pay_again(&self, order_id: &str) -> Result<Order, OrderError> {
        let click = Click::Payment(order_id.to_owned());
        self.clicks.once(click, self.pay_unless_paid(order_id)).await
    }

    /// Takes what the provider reports by itself: the payment service, which checks it as well, says
    /// what has become of the payment by it. Returns `None` if there is no such payment.
    ///
    /// # Errors
    ///
    /// If the payment service does not take it, or the database fails.
    pub async fn take(&self, signature: &str, body: Bytes) -> Result<Option<Payment>, OrderError> {
        let Some(payment) = self.payment.report(signature, body).await? else { return Ok(None) };
        // Payments may be made for what is no order.
        if let Some(order) = self.store.find(&payment.order_id).await?
            && order.payment_key() == payment.idempotency_key
        {
            self.settle(&order, payment.status.into()).await?;
        }
        Ok(Some(payment))
    }

    /// Finds an order.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn find(&self, order_id: &str) -> Result<Option<Order>, OrderError> {
        Ok(self.store.find(order_id).await?)
    }

    /// Finds a product.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn product(&self, sku: &str) -> Result<Option<Product>, OrderError> {
        Ok(self.store.product(sku).await?)
    }

    /// Lists what is sold.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn products(&self) -> Result<Vec<Product>, OrderError> {
        Ok(self.store.products().await?)
    }

    /// The mails and withdrawals that nobody waits for, except who ends the process.
    pub fn beside(&self) -> &TaskTracker {
        &self.beside
    }

    /// Says whether the service can work.
    pub async fn is_ready(&self) -> bool {
        self.store.is_ready().await
    }

    async fn place_once(
        &self,
        key: Option<&str>,
        request: OrderRequest,
    ) -> Result<Order, OrderError> {
        let click = match key {
            Some(key) => Click::Key(key.to_owned()),
            None => Click::Request(request.clone()),
        };
        self.clicks.once(click, self.begin(key, request)).await
    }

    async fn begin(&self, key: Option<&str>, request: OrderRequest) -> Result<Order, OrderError> {
        if let Some(key) = key
            && let Some(order) = self.store.find_by_key(key).await?
        {
            if !order.withdrawing {
                return self.go_on(order, &request).await;
            }
            // Whoever began that has died or found the inventory away. Then the key is free again.
            self.withdraw_to_the_end(&order.order_id).await?;
        }
        let order = request.into_order()?;

        // The order is written down before anything is asked of others: whatever happens from here
        // on, what was reserved or charged for it can be traced.
        if !self.store.insert(key, &order).await? {
            return Err(OrderError::InProgress); // in another process
        }
        match self.reserve(&order).await {
            Ok(()) => self.pay(order).await,
            Err(cause) => Err(self.undo(order, cause).await?),
        }
    }

    /// Takes up an order again: reserving and paying twice under its names happens once.
    async fn go_on(&self, order: Order, request: &OrderRequest) -> Result<Order, OrderError> {
        if !order.answers(request) {
            return Err(OrderError::KeyReused);
        }
        if order.payment_status != PaymentState::Pending {
            return show(order);
        }
        self.finish(order).await
    }

    /// Reserves and pays for an order that is not known to be paid.
    async fn finish(&self, order: Order) -> Result<Order, OrderError> {
        if !self.store.take_up(&order).await? {
            return Err(OrderError::Withdrawn);
        }
        // It may have been charged already: whatever fails now, the order is not undone here.
        match self.reserve(&order).await {
            Ok(()) => self.pay(order).await,
            Err(cause) => Err(self.unreserved(order, cause).await?),
        }
    }

    async fn pay_unless_paid(&self, order_id: &str) -> Result<Order, OrderError> {
        let unknown = || OrderError::Unknown(order_id.to_owned());
        let order = self.store.find(order_id).await?.ok_or_else(unknown)?;
        match order.payment_status {
            PaymentState::Approved => Ok(order),
            PaymentState::Pending if order.payment_begun => {
                Err(OrderError::Pending(Box::new(order)))
            }
            PaymentState::Pending => self.finish(order).await, // nobody was asked for the money
            PaymentState::Rejected => {
                if !self.store.pay_anew(&order).await? {
                    return Err(OrderError::InProgress); // in another process
                }
                let order = self.store.find(order_id).await?.ok_or_else(unknown)?;
                self.pay(order).await
            }
        }
    }

    async fn reserve(&self, order: &Order) -> Result<(), InventoryError> {
        let reservation = Reservation {
            order_id: order.order_id.clone(),
            sku: order.sku.clone(),
            quantity: order.quantity,
        };
        self.inventory.reserve(order.user(), &reservation).await
    }

    pub(super) async fn pay(&self, order: Order) -> Result<Order, OrderError> {
        // From here on the order may be paid for without anybody waiting.
        if !self.store.begin_payment(&order).await? {
            // It was withdrawn as abandoned, maybe before the inventory kept this.
            self.withdraw_to_the_end(&order.order_id).await?;
            return Err(OrderError::Withdrawn);
        }
        let request = PaymentRequest { order_id: order.order_id.clone(), amount: order.amount };
        let state = match self.payment.pay(order.user(), &order.payment_key(), &request).await {
            Ok(state) => state,
            Err(PaymentCallError::Declined) => PaymentState::Rejected,
            Err(_) => PaymentState::Pending,
        };
        self.settle(&order, state).await?;
        // A callback may have been faster.
        let stored = self.store.find(&order.order_id).await?;
        show(stored.ok_or(sqlx::Error::RowNotFound)?)
    }

    /// Stores what became of a payment. Who confirms the order by it, and nobody else, tells the customer.
    pub(super) async fn settle(&self, order: &Order, state: PaymentState) -> sqlx::Result<()> {
        let is_first = self.store.settle(order, state).await?;
        if is_first && state.confirms() == OrderStatus::Confirmed {
            self.confirmations.send(order);
        }
        Ok(())
    }
}

fn show(order: Order) -> Result<Order, OrderError> {
    match order.payment_status {
        PaymentState::Rejected => Err(OrderError::Declined(Box::new(order))),
        PaymentState::Approved | PaymentState::Pending => Ok(order),
    }
}
