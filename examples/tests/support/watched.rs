//! The page of a registry, in a browser of its own.

use resilience::{
    Config, Resilience,
    actuator::{Actuator, Server},
};
use serde_json::{Value, json};

use super::browser::Page;

/// Serves the page of a registry to a browser of its own.
pub(crate) struct Watched {
    pub(crate) page: Page,
    management: Server,
}

impl Watched {
    pub(crate) async fn new(actuator: Actuator) -> Self {
        let management = actuator.bind("127.0.0.1:0").await.unwrap();
        let page = Page::new(1280, 900).await;
        let watched = Self { page, management };
        watched.open("").await;
        watched
    }

    pub(crate) async fn open(&self, hash: &str) {
        self.page.open(&format!("{}{hash}", self.url())).await;
        self.page.until(LIVE).await;
    }

    fn url(&self) -> String {
        format!("http://{}/actuator", self.management.address())
    }

    /// The names of the breakers, from top to bottom.
    pub(crate) async fn breakers(&self) -> Vec<String> {
        let names = "[...document.querySelectorAll('#circuitBreakers tbody .name')].map(n => n.firstChild.data)";
        serde_json::from_value(self.page.evaluate(names).await).unwrap()
    }

    pub(crate) async fn state_on_the_server(&self, breaker: &str) -> Value {
        let url = format!("{}/circuitbreakers", self.url());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut answer: Value = client.get(url).send().await.unwrap().json().await.unwrap();
        answer["circuitBreakers"][breaker]["state"].take()
    }
}

/// Whether the page follows the server, as an expression.
pub(crate) const LIVE: &str = "document.querySelector('#connection').dataset.state === 'live'";

/// The row of an instance, as an expression.
pub(crate) fn row(name: &str) -> String {
    let name = json!(name);
    format!(
        "[...document.querySelectorAll('tbody tr')].find(row => \
         row.querySelector('.name').firstChild.data === {name})"
    )
}

/// Whether a breaker is shown in this state, as an expression.
pub(crate) fn shows(name: &str, state: &str) -> String {
    format!("{}?.querySelector('.state').dataset.is === '{state}'", row(name))
}

/// A registry with these breakers and nothing else.
pub(crate) fn registry_with(breakers: impl IntoIterator<Item = String>) -> Resilience {
    let registry = Resilience::from_config(Config::default()).unwrap();
    for name in breakers {
        registry.circuit_breaker(&name);
    }
    registry
}
