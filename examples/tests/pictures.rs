//! Makes the pictures of the README anew, from real runs:
//!
//! ```sh
//! cargo test -p examples --test pictures -- --ignored
//! ```

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

mod support;

#[path = "support/order_picture.rs"]
mod order_picture;

use std::fs;

use examples::faults::FaultPlan;
use resilience::actuator::Actuator;
use support::{World, book, browser::Page, until};

const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/pictures");

#[tokio::test(start_paused = true)]
#[ignore = "writes docs/pictures/order.svg"]
async fn draw_the_order() {
    let picture = order_picture::draw().await;
    fs::create_dir_all(PICTURES).unwrap();
    fs::write(format!("{PICTURES}/order.svg"), picture).unwrap();
}

/// The running system while its payment provider fails under a rush of orders.
#[tokio::test]
#[ignore = "writes docs/pictures/actuator.png and actuator-dark.png"]
async fn take_a_picture_of_the_page() {
    let world = World::start(&[]).await;
    let actuator = Actuator::new(&world.registry).bind("127.0.0.1:0").await.unwrap();
    let page = Page::new(1280, 800).await;
    page.open(&format!("http://{}/actuator", actuator.address())).await;
    page.until("document.querySelector('#circuitBreakers tbody tr')").await;

    for round in 0..4 {
        world.provider_faults(FaultPlan { error_rate: 0.6, ..FaultPlan::default() }).await;
        for user in 0..12 {
            world.order(&book(100 * round + user)).await;
        }
        let limiter = world.registry.rate_limiter("orderRl");
        until("orders pass again", async || limiter.available_permissions() >= 6).await;
    }
    page.until("document.querySelector('#circuitBreakers [data-is=OPEN]')").await;
    fs::create_dir_all(PICTURES).unwrap();
    fs::write(format!("{PICTURES}/actuator.png"), page.picture().await).unwrap();
    page.prefer("dark").await;
    fs::write(format!("{PICTURES}/actuator-dark.png"), page.picture().await).unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_picture_of_the_order_is_what_a_call_does_today() {
    let kept = fs::read_to_string(format!("{PICTURES}/order.svg")).unwrap();
    assert_eq!(kept, order_picture::draw().await, "make it anew, see the head of this file");
}
