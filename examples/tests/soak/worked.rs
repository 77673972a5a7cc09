//! That there was anything to go wrong: a system that refuses everybody has no faults in its books.

use std::time::Duration;

use examples::{order::OrderStatus, payment::PaymentStatus};

use crate::{
    audit::{Booked, Books},
    told::Told,
};

/// So many orders are confirmed in each second, on average; runs of a minute had 4.6 to 8.3.
const CONFIRMED_A_SECOND: u64 = 2;
/// So many of a hundred orders in the books are confirmed; runs had 83 to 96.
const CONFIRMED_PERCENT: usize = 50;
/// So many of a hundred confirmed orders are mailed about; runs had 56 to 93. A mail service that is not
/// well is not waited for.
const MAILED_PERCENT: usize = 25;

/// A run of this length comes to everything that clients do.
const WHOLE: Duration = Duration::from_mins(1);

/// What clients are told in every whole run, seven times or more in each of thirty.
const TOLD: [&str; 15] = [
    "an order: 200 CONFIRMED / APPROVED",
    "an order under a key: 200 CONFIRMED / APPROVED",
    "a global order: 200 CONFIRMED / APPROVED",
    "a key again: 200 CONFIRMED / APPROVED",
    "a key with another order: 422 IDEMPOTENCY_KEY_REUSED",
    "a double click: 200 CONFIRMED / APPROVED",
    "a double click: 409 ALREADY_IN_PROGRESS",
    "an order that is hung up on: hung up",
    "a unicorn: 409 OUT_OF_STOCK",
    "a body that is no order: 400 BAD_JSON",
    "a huge body: 413 BODY_TOO_LARGE",
    "an order that is read: 200 CONFIRMED / APPROVED",
    "the products: 200",
    "a report again: 200",
    "a forged report: 401 BAD_SIGNATURE",
];

/// What a run of this length does and this one did not.
pub(crate) fn missing(books: &Books, told: &Told, length: Duration) -> Vec<String> {
    let mut missing = Vec::new();
    let mut expect = |is_so: bool, what: String| {
        if !is_so {
            missing.push(what);
        }
    };
    let is_confirmed = |booked: &&Booked| booked.order.status == OrderStatus::Confirmed;
    let (all, confirmed) = (books.orders.len(), books.orders.values().filter(is_confirmed).count());
    let (seconds, mailed) = (length.as_secs(), books.mails.len());
    expect(
        confirmed as u64 >= CONFIRMED_A_SECOND * seconds,
        format!("{confirmed} orders are confirmed in {seconds} s"),
    );
    expect(
        confirmed * 100 >= all * CONFIRMED_PERCENT,
        format!("{confirmed} of {all} orders are confirmed"),
    );
    expect(
        mailed > 0 && mailed * 100 >= confirmed * MAILED_PERCENT,
        format!("{mailed} of {confirmed} confirmed orders are mailed about"),
    );
    if length >= WHOLE {
        for what in TOLD {
            expect(told.counts.contains_key(what), format!("nobody was told: {what}"));
        }
        for status in [PaymentStatus::Approved, PaymentStatus::Rejected] {
            let is_there = books.payments.iter().any(|payment| payment.status == status);
            expect(is_there, format!("no payment is {status:?}"));
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use examples::{
        order::{Order, OrderRequest, PaymentState},
        payment::Payment,
    };

    use super::*;

    fn payment(status: PaymentStatus) -> Payment {
        Payment {
            idempotency_key: "k".into(),
            order_id: "o".into(),
            amount: 1,
            status,
            provider: None,
            settled_by: None,
            charge_key: None,
        }
    }

    /// The least that a whole run does.
    fn least() -> (Books, Told) {
        let request = OrderRequest { user_id: 1, sku: "book".into(), quantity: 1, amount: 1 };
        let placed = request.into_order().unwrap();
        let paid = Order {
            status: OrderStatus::Confirmed,
            payment_status: PaymentState::Approved,
            ..placed.clone()
        };
        let (mut books, mut told) = (Books::default(), Told::default());
        for number in 0..240 {
            let order = if number % 2 == 0 { paid.clone() } else { placed.clone() };
            books.orders.insert(number.to_string(), Booked { order, is_payment_begun: true });
        }
        books.mails = vec![String::new(); 30];
        books.payments = vec![payment(PaymentStatus::Approved), payment(PaymentStatus::Rejected)];
        told.counts = TOLD.iter().map(|what| ((*what).to_owned(), 1)).collect();
        (books, told)
    }

    #[test]
    fn the_least_is_enough_and_nothing_less() {
        let (books, told) = least();
        assert_eq!(missing(&books, &told, WHOLE), [""; 0]);
        let without = |change: &dyn Fn(&mut Books, &mut Told)| {
            let (mut books, mut told) = least();
            change(&mut books, &mut told);
            missing(&books, &told, WHOLE).len()
        };
        assert_eq!(without(&|books, _| drop(books.orders.remove("0"))), 2);
        assert_eq!(without(&|books, _| drop(books.mails.pop())), 1);
        for what in TOLD {
            assert_eq!(without(&|_, told| _ = told.counts.remove(what)), 1, "{what}");
        }
        for payment in 0..2 {
            assert_eq!(without(&|books, _| drop(books.payments.remove(payment))), 1, "{payment}");
        }
    }

    #[test]
    fn a_system_that_refuses_everybody_has_not_worked_however_short_the_run_was() {
        let second = Duration::from_secs(1);
        assert!(missing(&Books::default(), &Told::default(), second).len() >= 2);
    }
}
