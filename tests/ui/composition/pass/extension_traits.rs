//! Extension traits for every type, whose methods are named like those that an expansion calls.

#![deny(warnings)]
#![allow(dead_code, unused_imports)]

use std::{sync::Arc, time::Duration};

use resilience::{CallError, Error, TimedOut};

/// A method that takes `$receiver` and has nothing of what ours return.
macro_rules! extension {
    ($module:ident, $($receiver:tt)*) => {
        extension!(
            @methods $module, ($($receiver)*),
            enter admit protect protect_detached protect_blocking settle back_off is_last_attempt
            lend take into_inner answer call fits select respond unhandled
            facts policy of identity conclude settled register
            record ignore record_result open_for retry_if retry_ignore retry_result retry_after
            kinds refusal source as_dyn clone deref into from_refusal into_error
        );
    };
    (@methods $module:ident, $receiver:tt, $($method:ident)*) => {
        mod $module {
            pub trait Extension: Sized {
                fn new() {}
                $(extension!(@method $receiver $method);)*
            }

            impl<T> Extension for T {}
        }
    };
    (@method ($($receiver:tt)*) $method:ident) => {
        fn $method($($receiver)*) {}
    };
}

extension!(by_reference, &self);
extension!(by_exclusive_reference, &mut self);
extension!(by_value, self);

macro_rules! functions {
    ($module:ident, $extension:ident) => {
        mod $module {
            use super::$extension::Extension as _;
            use super::*;

            #[derive(Debug, resilience::ErrorKind)]
            enum Failure {
                Refused(Error),
                Maybe(Option<Box<Error>>),
                Anything(Box<dyn std::error::Error + Send + Sync>),
            }

            impl From<Error> for Failure {
                fn from(error: Error) -> Self {
                    Failure::Refused(error)
                }
            }

            struct Service(u32);

            impl Service {
                #[resilience::retry(
                            mut_ok,
                            retry_if = is_refused,
                            ignore = is_refused,
                            retry_result = is_zero,
                            retry_after = no_time,
                            fallback = [on_timeout, Self::later]
                        )]
                #[resilience::circuit_breaker(
                            record = is_refused,
                            ignore = is_refused,
                            record_result = is_zero,
                            open_for = no_time
                        )]
                #[resilience::rate_limiter]
                #[resilience::time_limiter]
                #[resilience::bulkhead]
                async fn pay(&mut self, text: String) -> Result<usize, Failure> {
                    self.0 += 1;
                    Ok(text.len())
                }

                async fn later(
                    &mut self,
                    text: String,
                    _: CallError<Failure>,
                ) -> Result<usize, Failure> {
                    Ok(text.len())
                }

                #[resilience::time_limiter(detach)]
                #[resilience::retry]
                async fn detached(self: Arc<Self>, text: String) -> Result<usize, Failure> {
                    Ok(text.len())
                }
            }

            fn on_timeout(_: TimedOut) -> Result<usize, Failure> {
                Ok(0)
            }

            fn is_refused(error: &Failure) -> bool {
                matches!(error, Failure::Refused(_))
            }

            fn is_zero(value: &usize) -> bool {
                *value == 0
            }

            fn no_time(_: &Failure) -> Option<Duration> {
                None
            }

            #[resilience::retry]
            #[resilience::bulkhead(type = "thread_pool")]
            fn blocking(text: String) -> Result<usize, Error> {
                Ok(text.len())
            }

            #[resilience::circuit_breaker(fallback = same_later)]
            async fn same(text: &str) -> Result<usize, Error> {
                Ok(text.len())
            }

            fn same_later(text: &str, _: Error) -> Result<usize, Error> {
                Ok(text.len())
            }

            #[resilience::retry]
            async fn nothing_is_known<E: From<Error>>() -> Result<(), E> {
                Ok(())
            }

            pub async fn run() {
                assert_eq!(Service(1).pay("ab".to_owned()).await.ok(), Some(2));
                let service = Arc::new(Service(1));
                assert_eq!(Service::detached(service, "ab".to_owned()).await.ok(), Some(2));
                assert_eq!(blocking("ab".to_owned()).await.ok(), Some(2));
                assert_eq!(same("ab").await.ok(), Some(2));
                assert_eq!(nothing_is_known::<Failure>().await.ok(), Some(()));
            }
        }
    };
}

functions!(reference, by_reference);
functions!(exclusive, by_exclusive_reference);
functions!(value, by_value);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    reference::run().await;
    exclusive::run().await;
    value::run().await;
}
