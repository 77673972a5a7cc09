use std::{fmt, time::Duration};

use resilience::{ConfigError, Resilience, SingleFlight, single_flight::SingleFlightConfig};

use super::{Order, OrderError, OrderRequest};

/// Longer than an order takes under all its time limits: after it, a key that a crash has left behind
/// is free again.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(30);

/// What makes two requests the same click.
#[derive(Debug, Clone)]
pub(super) enum Click {
    /// The client says so.
    Key(String),
    /// It says nothing: the same order by the same user while the first one is under way.
    Request(OrderRequest),
    /// Paying this order again.
    Payment(String),
}

/// The orders that are being placed or paid, so that a double click is worked on once: in this process,
/// or in all that share a store. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Clicks(SingleFlight<Result<Order, OrderError>>);

impl Clicks {
    /// Keeps the clicks in the store of `registry`, if it has one.
    pub(super) fn of(registry: &Resilience) -> Result<Self, ConfigError> {
        let config = SingleFlightConfig::builder().expires_after(FORGOTTEN_AFTER).build()?;
        Ok(Self(match registry.store() {
            Some(store) => SingleFlight::with_store("clicks", config, &store),
            None => SingleFlight::new("clicks"),
        }))
    }

    /// Works on a click, unless that is under way already.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the work, and the click can be made again.
    pub(super) async fn once(
        &self,
        click: Click,
        work: impl Future<Output = Result<Order, OrderError>>,
    ) -> Result<Order, OrderError> {
        // While the store is away, clicks of this process are still told apart: a refusal always
        // means that there is another one.
        self.0.try_call(click.to_string(), work).await.map_err(|_| OrderError::InProgress)?
    }
}

/// Its key: no two clicks that differ have the same.
impl fmt::Display for Click {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "key/{key}"),
            Self::Request(OrderRequest { user_id, sku, quantity, amount }) => {
                // The text is last, as it may hold anything.
                write!(f, "request/{user_id}/{quantity}/{amount}/{sku}")
            }
            Self::Payment(order_id) => write!(f, "payment/{order_id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use resilience::Config;

    use super::*;

    #[tokio::test]
    async fn a_click_is_worked_on_once_at_a_time_and_can_be_made_again_afterwards() {
        let clicks = Clicks::of(&Resilience::from_config(Config::default()).unwrap()).unwrap();
        let click = || Click::Payment("a".to_owned());
        let ends = || async { Err(OrderError::KeyReused) };
        let first = clicks.once(click(), async {
            let second = clicks.once(click(), ends()).await;
            assert!(matches!(second, Err(OrderError::InProgress)), "{second:?}");
            let other = clicks.once(Click::Key("a".to_owned()), ends()).await;
            assert!(matches!(other, Err(OrderError::KeyReused)), "{other:?}");
            Err(OrderError::KeyReused)
        });
        assert!(matches!(first.await, Err(OrderError::KeyReused)));
        let again = clicks.once(click(), ends()).await;
        assert!(matches!(again, Err(OrderError::KeyReused)), "{again:?}");
    }
}
