//! Orders that are taken back.
//!
//! First the order is claimed, by one statement that fails once anybody goes on with it, then its stock is
//! given back, and then it is forgotten. The other way round, who goes on with it would pay for stock that
//! is given back under his hands. A claim has no way back: a release that arrives late, or twice, is that
//! of an order which never comes again.

use std::time::Duration;

use resilience::Error;

use super::{InventoryError, Order, OrderError, OrderService};
use crate::{inventory::Release, sweeper::Stop};

impl OrderService {
    /// Withdraws an order that was just written down, as `cause` kept its reservation from being
    /// confirmed, and says what became of it.
    ///
    /// # Cancel safety
    ///
    /// Once begun it is carried through.
    pub(super) async fn undo(
        &self,
        order: Order,
        cause: InventoryError,
    ) -> Result<OrderError, OrderError> {
        let service = self.clone();
        let work = async move {
            if service.withdraw(&order.order_id, cause.may_have_reserved()).await? {
                Ok(OrderError::NotPlaced(cause))
            } else {
                // Another process, which does not know of the clicks of this one, goes on with it under
                // the same key, or a sweep was faster.
                service.tell_unreserved(order, cause).await
            }
        };
        self.carried_through(work).await?
    }

    /// Says what became of an order that was gone on with, as `cause` kept its reservation from being
    /// confirmed.
    ///
    /// # Cancel safety
    ///
    /// As [`undo`](Self::undo).
    pub(super) async fn unreserved(
        &self,
        order: Order,
        cause: InventoryError,
    ) -> Result<OrderError, OrderError> {
        let service = self.clone();
        self.carried_through(async move { service.tell_unreserved(order, cause).await }).await?
    }

    /// Gives back what may be kept for an order that is being withdrawn, and forgets it.
    ///
    /// # Errors
    ///
    /// [`OrderError::NotPlaced`] if the inventory is not known to have done it: then a sweep tries again.
    ///
    /// # Cancel safety
    ///
    /// It is carried through.
    pub(super) async fn withdraw_to_the_end(&self, order_id: &str) -> Result<(), OrderError> {
        let (service, order_id) = (self.clone(), order_id.to_owned());
        self.carried_through(async move { service.give_back(&order_id).await }).await?
    }

    /// Withdraws what is left over, at most `batch` of it: orders of this age whose payment nobody has
    /// begun, and those whose withdrawal was begun by somebody who died or found the inventory away.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub(super) async fn withdraw_left_over(
        &self,
        age: Duration,
        batch: u32,
        stop: &Stop,
    ) -> Result<(), OrderError> {
        let abandoned = self.store.withdraw_abandoned(age).await?;
        if abandoned > 0 {
            tracing::info!(abandoned, "orders that nobody has gone on with are withdrawn");
        }
        for order in self.store.withdrawing(batch).await? {
            if stop.is_told() {
                break;
            }
            // One that the inventory does not release must not keep the others from being released.
            self.store.touch(&order).await?;
            match self.withdraw_to_the_end(&order.order_id).await {
                Err(OrderError::NotPlaced(error)) => {
                    tracing::info!(%error, "a withdrawn order may still keep stock");
                    if let InventoryError::Protected(Error::CallNotPermitted(_)) = error {
                        break; // for all of them, until the breaker lets calls through
                    }
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// An order that a sweep has taken for abandoned meanwhile does not stand.
    async fn tell_unreserved(
        &self,
        order: Order,
        cause: InventoryError,
    ) -> Result<OrderError, OrderError> {
        if self.store.find(&order.order_id).await?.is_some() {
            return Ok(OrderError::Unreserved { order: Box::new(order), cause });
        }
        // The sweep may have given back what was kept before the inventory kept this.
        self.give_back(&order.order_id).await?;
        Ok(OrderError::NotPlaced(cause))
    }

    /// Says whether the order is withdrawn by this: not if anybody has gone on with it, nor if a sweep
    /// was faster.
    async fn withdraw(&self, order_id: &str, may_be_kept: bool) -> Result<bool, OrderError> {
        if !self.store.begin_withdrawal(order_id).await? {
            return Ok(false);
        }
        if !may_be_kept {
            self.store.remove_withdrawn(order_id).await?;
        } else if let Err(error) = self.give_back(order_id).await {
            tracing::warn!(order_id, %error, "stock may be kept until a sweep gives it back");
        }
        Ok(true)
    }

    async fn give_back(&self, order_id: &str) -> Result<(), OrderError> {
        let release = Release { order_id: order_id.to_owned() };
        self.inventory.release(&release).await.map_err(OrderError::NotPlaced)?;
        Ok(self.store.remove_withdrawn(order_id).await?)
    }

    /// Runs `work` to its end, also if nobody waits for that.
    async fn carried_through<F>(&self, work: F) -> Result<F::Output, OrderError>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        Ok(self.registry.spawn(self.beside.track_future(work)).await?)
    }
}
