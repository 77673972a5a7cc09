use std::{fmt, future::Future, sync::Arc};

use super::{
    FlightRefused, SingleFlightConfig,
    flight::{Flights, Lead, Part},
    lock::{Owned, Taken},
    refused::Why,
};
use crate::{backing::Backing, name::Name, rate_limiter::OnStoreFailure};

/// Makes one call for all that want the same at the same time, told apart by their keys.
///
/// `T` is what a call brings, of which everybody has a clone: a `Result` whose error is in an `Arc`,
/// for instance. A cheap handle: clones are the same instance.
///
/// # Examples
///
/// Of two that ask for the same user, one asks the database:
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use resilience::SingleFlight;
///
/// let asked = AtomicU32::new(0);
/// let look_up = || async {
///     tokio::task::yield_now().await; // the database thinks
///     asked.fetch_add(1, Ordering::Relaxed);
///     "Ada".to_owned()
/// };
/// let users = SingleFlight::new("users");
/// let (one, other) = tokio::join!(users.call("7", look_up()), users.call("7", look_up()));
/// assert_eq!((one?.as_str(), other?.as_str()), ("Ada", "Ada"));
/// assert_eq!(asked.load(Ordering::Relaxed), 1);
/// # Ok(())
/// # }
/// ```
///
/// A second click while the first one is under way is refused:
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use resilience::SingleFlight;
///
/// let submits = SingleFlight::new("submits");
/// let (first, second) = tokio::join!(
///     submits.try_call("order-1", async { tokio::task::yield_now().await }),
///     submits.try_call("order-1", async {}),
/// );
/// assert!(first.is_ok());
/// assert!(second.unwrap_err().is_in_progress());
/// # }
/// ```
pub struct SingleFlight<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    name: Arc<str>,
    label: Name,
    config: SingleFlightConfig,
    backing: Backing,
    flights: Flights<T>,
}

impl<T> SingleFlight<T> {
    /// Makes an instance for the calls of this process.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self::backed(name.into(), SingleFlightConfig::default(), Backing::default())
    }

    /// Makes an instance for the calls of all processes that have the same store, namespace and name.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use resilience::{SingleFlight, single_flight::SingleFlightConfig, store::{Store, StoreConfig}};
    ///
    /// let store = Store::open(StoreConfig::builder(["redis://127.0.0.1:1"], "shop").build()?)?;
    /// let submits = SingleFlight::with_store("submits", SingleFlightConfig::default(), &store);
    /// // Nobody is there: calls of this process are still told apart.
    /// assert_eq!(submits.call("order-1", async { 7 }).await?, 7);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "redis")]
    pub fn with_store(
        name: impl Into<Arc<str>>,
        config: SingleFlightConfig,
        store: &crate::store::Store,
    ) -> Self {
        Self::backed(name.into(), config, Backing::by(store.clone()))
    }

    fn backed(name: Arc<str>, config: SingleFlightConfig, backing: Backing) -> Self {
        let label = Name::kept(&name);
        let flights = Flights::new();
        Self { shared: Arc::new(Shared { name, label, config, backing, flights }) }
    }

    /// Returns the name of the instance.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Returns the settings.
    pub fn config(&self) -> &SingleFlightConfig {
        &self.shared.config
    }

    /// Returns how many keys have a call under way in this process.
    pub fn in_progress(&self) -> usize {
        self.shared.flights.len()
    }

    /// Makes the call unless one with the key is under way, here or, with a store, anywhere.
    ///
    /// # Errors
    ///
    /// [`FlightRefused`], at once, when there is one.
    ///
    /// # Panics
    ///
    /// When the future panics; the key is free then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the call and frees the key.
    pub async fn try_call(
        &self,
        key: impl AsRef<str>,
        future: impl Future<Output = T>,
    ) -> Result<T, FlightRefused> {
        let key = key.as_ref();
        let Some(_lead) = self.shared.flights.try_lead(key) else {
            return Err(self.refused(Why::InProgress { longest: None }));
        };
        let _owned = self.own(key).await?;
        Ok(future.await)
    }

    /// Who waits for a call of this process in vain makes it: each caller brings its own.
    async fn lead(
        &self,
        key: &str,
        lead: Lead<T>,
        future: impl Future<Output = T>,
    ) -> Result<T, FlightRefused>
    where
        T: Clone,
    {
        let owned = self.own(key).await?;
        let result = future.await;
        // First the key, then those who wait: one of them may call again at once.
        drop(owned);
        lead.land(result.clone());
        Ok(result)
    }

    /// Takes the key among all processes; nothing where there is but this one.
    async fn own(&self, key: &str) -> Result<Option<Owned>, FlightRefused> {
        let Shared { name, config, backing, .. } = &*self.shared;
        let Some(store) = backing.store() else { return Ok(None) };
        match Owned::take(store, name, key, config.expires_after()).await {
            Taken::Owned(owned) => Ok(Some(owned)),
            Taken::ByAnother(why) => Err(self.refused(why)),
            Taken::Unknown if config.on_store_failure() == OnStoreFailure::Closed => {
                Err(self.refused(Why::Unknown))
            }
            Taken::Unknown => Ok(None),
        }
    }

    fn refused(&self, why: Why) -> FlightRefused {
        FlightRefused::new(self.shared.label.clone(), why)
    }
}

impl<T: Clone> SingleFlight<T> {
    /// Makes the call, or has the result of the one with the key that is under way in this process. If
    /// that one is dropped or panics, the next who waits makes its own call.
    ///
    /// A call that waits for one of its own key, within itself, waits for ever.
    ///
    /// # Errors
    ///
    /// [`FlightRefused`] when a call with the key is under way in another process: its result is not to
    /// be had here. Each of those who waited asks again, so one of them may make the call.
    ///
    /// # Panics
    ///
    /// When the future panics; those who wait are not harmed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of the one that makes the call leaves it to the next; dropping another
    /// harms nobody.
    pub async fn call(
        &self,
        key: impl AsRef<str>,
        future: impl Future<Output = T>,
    ) -> Result<T, FlightRefused> {
        let key = key.as_ref();
        match self.shared.flights.take_part(key).await {
            Part::Follows(result) => Ok(result),
            Part::Leads(lead) => self.lead(key, lead, future).await,
        }
    }
}

// By hand: a derive would ask for `T: Clone`.
impl<T> Clone for SingleFlight<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

/// Shows no keys: they may be users'.
impl<T> fmt::Debug for SingleFlight<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlight")
            .field("name", &self.shared.name)
            .field("in_progress", &self.in_progress())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        panic::{AssertUnwindSafe, catch_unwind},
        task::Poll,
    };

    use super::*;
    use crate::test_support::poll;

    #[test]
    fn all_who_ask_at_the_same_time_have_the_result_of_the_first() {
        let flights = SingleFlight::new("users");
        let (sender, first) = tokio::sync::oneshot::channel::<u32>();
        let mut leader = Box::pin(flights.call("7", async { first.await.unwrap() }));
        assert!(poll(leader.as_mut()).is_pending());
        let mut others = [(); 3].map(|()| Box::pin(flights.call("7", pending())));
        for other in &mut others {
            assert!(poll(other.as_mut()).is_pending());
        }
        sender.send(1).unwrap();
        assert_eq!(poll(leader.as_mut()), Poll::Ready(Ok(1)));
        for other in &mut others {
            assert_eq!(poll(other.as_mut()), Poll::Ready(Ok(1)));
        }
        assert_eq!(flights.in_progress(), 0);
        let mut later = Box::pin(flights.call("7", ready(2)));
        assert_eq!(poll(later.as_mut()), Poll::Ready(Ok(2)), "what has landed is over");
    }

    #[test]
    fn other_keys_have_calls_of_their_own() {
        let flights = SingleFlight::new("users");
        let mut one = Box::pin(flights.call("1", pending::<u32>()));
        assert!(poll(one.as_mut()).is_pending());
        let mut other = Box::pin(flights.call("2", ready(2)));
        assert_eq!(poll(other.as_mut()), Poll::Ready(Ok(2)));
        assert_eq!(flights.in_progress(), 1);
    }

    #[test]
    fn a_call_that_is_dropped_goes_to_the_next_who_waits() {
        let flights = SingleFlight::new("users");
        let mut leader = Box::pin(flights.call("7", pending()));
        assert!(poll(leader.as_mut()).is_pending());
        let mut gone = Box::pin(flights.call("7", ready(1)));
        let mut next = Box::pin(flights.call("7", ready(2)));
        assert!(poll(gone.as_mut()).is_pending());
        assert!(poll(next.as_mut()).is_pending());
        drop(gone);
        drop(leader);
        assert_eq!(poll(next.as_mut()), Poll::Ready(Ok(2)));
        assert_eq!(flights.in_progress(), 0);
    }

    #[test]
    fn a_panic_harms_only_the_one_who_made_the_call() {
        let flights = SingleFlight::new("users");
        let mut leader = Box::pin(flights.call("7", async { panic!("the body") }));
        let panicked = catch_unwind(AssertUnwindSafe(|| poll(leader.as_mut())));
        assert!(panicked.is_err());
        drop(leader);
        let mut next = Box::pin(flights.call("7", ready(2)));
        assert_eq!(poll(next.as_mut()), Poll::Ready(Ok(2)));
    }

    #[test]
    fn whoever_tries_is_told_that_one_is_under_way() {
        let flights = SingleFlight::new("submits");
        let mut first = Box::pin(flights.try_call("order", pending::<u32>()));
        assert!(poll(first.as_mut()).is_pending());
        let mut second = Box::pin(flights.try_call("order", ready(2)));
        let Poll::Ready(Err(refused)) = poll(second.as_mut()) else { panic!("it is refused") };
        assert!(refused.is_in_progress());
        assert_eq!(
            refused.to_string(),
            "SingleFlight 'submits' has a call with this key in progress"
        );
        drop(first);
        let mut third = Box::pin(flights.try_call("order", ready(3)));
        assert_eq!(poll(third.as_mut()), Poll::Ready(Ok(3)));
        assert_eq!(flights.in_progress(), 0);
    }

    #[test]
    fn who_waits_has_the_result_whatever_becomes_of_those_before() {
        let flights = SingleFlight::new("users");
        let (sender, first) = tokio::sync::oneshot::channel::<u32>();
        let mut leader = Box::pin(flights.call("7", async { first.await.unwrap() }));
        assert!(poll(leader.as_mut()).is_pending());
        let mut left_alone = Box::pin(flights.call("7", pending()));
        let mut waits = Box::pin(flights.call("7", pending()));
        assert!(poll(left_alone.as_mut()).is_pending());
        assert!(poll(waits.as_mut()).is_pending());
        sender.send(1).unwrap();
        assert_eq!(poll(leader.as_mut()), Poll::Ready(Ok(1)));
        assert_eq!(poll(waits.as_mut()), Poll::Ready(Ok(1)), "nobody polls the one before");
    }

    #[test]
    fn a_result_may_look_at_the_instance_while_it_goes_away() {
        #[derive(Clone)]
        struct Looks(SingleFlight<Looks>);
        impl Drop for Looks {
            fn drop(&mut self) {
                assert!(self.0.in_progress() < 2);
            }
        }
        let flights = SingleFlight::new("users");
        let (told, done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let result = Looks(flights.clone());
            drop(poll(Box::pin(flights.call("7", ready(result))).as_mut()));
            told.send(()).unwrap();
        });
        let done = done.recv_timeout(std::time::Duration::from_secs(10));
        assert!(done.is_ok(), "it hangs");
    }

    #[test]
    fn nothing_is_left_of_those_who_were_never_the_first() {
        let flights = SingleFlight::new("users");
        let mut leader = Box::pin(flights.call("7", ready(1)));
        let mut waits = Box::pin(flights.call("7", ready(2)));
        drop(poll(leader.as_mut()));
        drop(poll(waits.as_mut()));
        let tried = flights.try_call("8", ready(3));
        drop(tried);
        drop((leader, waits));
        assert_eq!(flights.in_progress(), 0);
    }
}
