//! A web interface for those who run the process: Resilience4j's endpoints, health, the configuration in
//! force, and a page that shows it all live.
//!
//! ```no_run
//! use resilience::actuator::Actuator;
//!
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let actuator = Actuator::new(&resilience::global()).token(std::env::var("ACTUATOR_TOKEN")?)?;
//! let server = actuator.serve().await?; // http://127.0.0.1:9080/actuator
//! # server.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! | path | what |
//! |---|---|
//! | `GET /actuator` | the page for a browser, else the links |
//! | `GET /actuator/circuitbreakers`, `ratelimiters`, `retries`, `bulkheads`, `timelimiters` | Resilience4j's lists |
//! | `POST /actuator/circuitbreakers/NAME` | changes a breaker's state, with the token only |
//! | `GET /actuator/circuitbreakerevents[/NAME[/TYPE]]`, `ratelimiterevents`, `retryevents`, `bulkheadevents`, `timelimiterevents` | the kept events; `?limit=` says how many at most |
//! | `GET /actuator/streamcircuitbreakerevents[/NAME[/TYPE]]` and so on | the same events as they happen, as server-sent events |
//! | `GET /actuator/health`, `health/liveness`, `health/readiness` | [`health`](crate::health) |
//! | `GET /actuator/config` | every setting in force and where it came from |
//! | `GET /actuator/prometheus` | the [`metrics`](crate::metrics) for Prometheus |
//! | `GET /actuator/instances`, `GET /actuator/stream` | everything the page shows, at once and as it changes |
//!
//! It is meant for a management port that only those reach who may see all this: [`Actuator::serve`]
//! listens on loopback. Nothing that a call carries is in it: no arguments, no keys, no texts of errors.
//! Whoever may connect may read; changes need the token.

mod body;
mod change_state;
mod config;
mod event_json;
mod event_stream;
mod events;
mod extract;
mod filter;
mod health;
mod host;
mod index;
mod instances;
mod listening;
mod lists;
mod live;
mod live_stream;
mod page;
mod problem;
mod prometheus;
mod router;
mod server;
mod sse;
mod state;
mod time;
mod token;
mod topic;
mod transitions;
mod watched;
mod write_timeout;

use std::{io, net::SocketAddr};

use axum::Router;
use tokio::net::ToSocketAddrs;

pub use server::Server;
pub use token::UnfitToken;

use self::{state::Shared, token::Token};
use crate::Resilience;

/// Where [`Actuator::serve`] listens.
pub const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9080);

/// Shows the instances of a registry over HTTP; the [module](self) tells how.
#[derive(Debug, Clone)]
#[must_use = "an actuator does nothing until it is served"]
pub struct Actuator {
    registry: Resilience,
    token: Option<Token>,
    capture_events: bool,
    beside: Router,
}

impl Actuator {
    /// Starts with no token, so that nothing can be changed, and with all events kept.
    pub fn new(registry: &Resilience) -> Self {
        Self {
            registry: registry.clone(),
            token: None,
            capture_events: true,
            beside: Router::new(),
        }
    }

    /// Lets those who have this token of 16 to 1024 visible ASCII characters change the state of breakers,
    /// by `Authorization: Bearer TOKEN`.
    ///
    /// # Errors
    ///
    /// If the token is shorter or longer, or has other characters.
    pub fn token(mut self, token: impl Into<String>) -> Result<Self, UnfitToken> {
        self.token = Some(Token::new(token.into())?);
        Ok(self)
    }

    /// Says whether the registry is made to keep every event, as Resilience4j keeps them; it is by
    /// default.
    ///
    /// Otherwise it is left as it is: the lists may have state changes, resets and exceeded rates only,
    /// and a call costs less (see [`Resilience::capture_events`]).
    pub fn capture_events(mut self, all: bool) -> Self {
        self.capture_events = all;
        self
    }

    /// Serves these routes beside its own: what else those ask for who run the program, such as `/livez` and
    /// `/readyz` for an orchestrator.
    ///
    /// They are behind the same limits: bodies of 4 KiB at most, which have 10 seconds to arrive, and in a
    /// [`Server`] its connections and hosts. The token is not asked for there. Their fallback is left out,
    /// as a server has its own, and what is under `/actuator` is the actuator's: no route of theirs may be there.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use resilience::{Config, Resilience, actuator::Actuator};
    ///
    /// let registry = Resilience::from_config(Config::default())?;
    /// let livez = Router::new().route("/livez", get(|| async { "alive" }));
    /// let actuator = Actuator::new(&registry).merge(livez);
    /// # let _ = actuator;
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If one of them, by the same path and method, has been merged already.
    pub fn merge(mut self, routes: Router) -> Self {
        self.beside = self.beside.merge(routes.reset_fallback());
        self
    }

    /// Returns the routes, the actuator's own all under `/actuator`, for a router of the program's own.
    ///
    /// Whoever serves them decides who may connect, and limits connections and their time. Streams that
    /// are open keep a server from stopping gracefully; a [`Server`] ends them.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience, actuator::Actuator};
    ///
    /// let registry = Resilience::from_config(Config::default())?;
    /// let app: axum::Router = axum::Router::new().merge(Actuator::new(&registry).router());
    /// # let _ = app;
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If a route that was [merged](Self::merge) has path and method of one of the actuator's own.
    pub fn router(self) -> Router {
        let beside = self.beside.clone();
        router::router(Shared::new(self), beside)
    }

    /// Serves at [`DEFAULT_ADDRESS`], `127.0.0.1:9080`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use resilience::actuator::Actuator;
    ///
    /// # async fn run() -> std::io::Result<()> {
    /// let server = Actuator::new(&resilience::global()).serve().await?;
    /// println!("http://{}/actuator", server.address());
    /// # server.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the port cannot be bound.
    ///
    /// # Panics
    ///
    /// If a route that was [merged](Self::merge) has path and method of one of the actuator's own.
    ///
    /// # Cancel safety
    ///
    /// Nothing is served if the future is dropped before it is ready, and the port is free again.
    pub async fn serve(self) -> io::Result<Server> {
        self.bind(DEFAULT_ADDRESS).await
    }

    /// Serves at this address; port 0 takes a free one.
    ///
    /// On a loopback address, requests for another host are refused: a web site whose name was made to
    /// point there cannot read what its visitor's browser can.
    ///
    /// There are at most 256 connections. One is ended that is idle for 10 seconds, whose request takes
    /// longer than that to arrive, or whose other side takes nothing of an answer for 30 seconds.
    ///
    /// # Errors
    ///
    /// If the address cannot be bound.
    ///
    /// # Panics
    ///
    /// If a route that was [merged](Self::merge) has path and method of one of the actuator's own.
    ///
    /// # Cancel safety
    ///
    /// Nothing is served if the future is dropped before it is ready, and the port is free again.
    pub async fn bind(self, address: impl ToSocketAddrs) -> io::Result<Server> {
        let beside = self.beside.clone();
        Server::start(address, Shared::new(self), beside).await
    }
}
