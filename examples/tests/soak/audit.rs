//! What must be true of all books together once everything has come to rest.

use std::collections::{BTreeMap, HashMap, HashSet};

use examples::{
    order::{Order, OrderStatus, PaymentState},
    payment::{Payment, PaymentStatus},
    pg::{Charge, Verdict},
};

use crate::{summary::counted, told::Told};

/// An order as its service has it.
#[derive(Debug, Clone)]
pub(crate) struct Booked {
    pub(crate) order: Order,
    /// Whether the payment service was about to be asked, or was.
    pub(crate) is_payment_begun: bool,
}

/// Stock that is kept for an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) sku: String,
    pub(crate) quantity: u32,
}

/// The books of all services.
#[derive(Debug, Clone, Default)]
pub(crate) struct Books {
    pub(crate) orders: HashMap<String, Booked>,
    /// Orders whose confirmation was undone, or that were deleted while they may have been paid.
    pub(crate) taken_back: Vec<String>,
    pub(crate) payments: Vec<Payment>,
    /// The key of a payment for each time that its outcome was written down or changed.
    pub(crate) settlements: Vec<String>,
    /// Of all providers.
    pub(crate) charges: Vec<Charge>,
    /// The order of each confirmation that was mailed.
    pub(crate) mails: Vec<String>,
    /// How many mails nobody saw.
    pub(crate) unseen_mails: u64,
    pub(crate) reservations: HashMap<String, Kept>,
    /// What was there at the beginning, and what is there now.
    pub(crate) stock: BTreeMap<String, (i64, i64)>,
}

impl Books {
    /// Everything that is not as it must be.
    pub(crate) fn faults(&self, told: &Told) -> Vec<String> {
        let mut faults = Vec::new();
        self.told(told, &mut faults);
        self.payments(&mut faults);
        self.orders(&mut faults);
        self.charges(&mut faults);
        self.mails(&mut faults);
        self.stock(&mut faults);
        faults
    }

    /// Everything that is kept for orders that are neither paid nor going to be, now that nobody comes back.
    pub(crate) fn kept_in_vain(&self) -> Vec<String> {
        let mut faults = Vec::new();
        self.stock(&mut faults);
        for (id, kept) in &self.reservations {
            if self.orders.get(id).is_some_and(|booked| !booked.is_payment_begun) {
                faults.push(format!("{kept:?} is kept for {id}, which nobody pays"));
            }
        }
        faults
    }

    /// Whether nobody is going to pay some order.
    pub(crate) fn has_forsaken(&self) -> bool {
        self.orders.values().any(|booked| !booked.is_payment_begun)
    }

    /// Whether nothing is open any more.
    pub(crate) fn is_settled(&self) -> bool {
        self.payments.iter().all(is_settled)
            && self.orders.values().all(|Booked { order, is_payment_begun }| {
                order.payment_status != PaymentState::Pending || !is_payment_begun
            })
    }

    /// Nothing that a client was told is lost or taken back.
    fn told(&self, told: &Told, faults: &mut Vec<String>) {
        for (id, known) in &told.orders {
            let Some(Booked { order, .. }) = self.orders.get(id) else {
                faults.push(format!("order {id} was told of and is lost: {known:?}"));
                continue;
            };
            if !order.answers(&known.request) {
                faults.push(format!("order {id} is not what was ordered: {order:?}, {known:?}"));
            }
            if known.is_confirmed && order.status != OrderStatus::Confirmed {
                faults.push(format!("order {id} was confirmed and is not any more: {order:?}"));
            }
            let declined = |payment: &Payment| {
                payment.order_id == *id && payment.status == PaymentStatus::Rejected
            };
            if known.was_declined && !self.payments.iter().any(declined) {
                faults.push(format!("order {id} was declined, and no payment of it was"));
            }
        }
    }

    /// Every payment is settled, once, belongs to an order, and says what the provider says.
    fn payments(&self, faults: &mut Vec<String>) {
        for payment in &self.payments {
            let key = &payment.idempotency_key;
            let times = self.settlements.iter().filter(|settled| *settled == key).count();
            if times != usize::from(is_settled(payment)) {
                faults.push(format!("payment {key} was settled {times} times: {payment:?}"));
            }
            if !is_settled(payment) {
                faults.push(format!("payment {key} is not settled: {payment:?}"));
            }
            let Some(Booked { order, .. }) = self.orders.get(&payment.order_id) else {
                faults.push(format!("payment {key} is for no order"));
                continue;
            };
            let keys = attempts(order);
            if payment.amount != order.amount || !keys.contains(key) {
                faults.push(format!("payment {key} is not for its order: {payment:?}, {order:?}"));
            }
        }
    }

    /// An order is confirmed by one approved payment, and by nothing else.
    fn orders(&self, faults: &mut Vec<String>) {
        let payments: HashMap<&str, &Payment> =
            self.payments.iter().map(|payment| (&*payment.idempotency_key, payment)).collect();
        for id in &self.taken_back {
            faults.push(format!("order {id} was taken back, and may have been paid"));
        }
        for (id, Booked { order, is_payment_begun }) in &self.orders {
            if order.payment_status.confirms() != order.status {
                faults.push(format!("order {id} contradicts itself: {order:?}"));
            }
            let payment = payments.get(&*order.payment_key()).map(|payment| payment.status);
            let agrees = match order.payment_status {
                PaymentState::Approved => payment == Some(PaymentStatus::Approved),
                PaymentState::Rejected => payment == Some(PaymentStatus::Rejected),
                PaymentState::Pending => payment.is_none() && !is_payment_begun,
            };
            if !agrees {
                faults.push(format!("order {id} and its payment disagree: {order:?}, {payment:?}"));
            }
            let keys = attempts(order);
            let approved = self.charges.iter().filter(|charge| {
                charge.verdict == Verdict::Approved && keys.contains(&charge.reference)
            });
            let charged: Vec<_> = approved.map(|charge| charge.amount).collect();
            let due: &[i64] =
                if order.status == OrderStatus::Confirmed { &[order.amount] } else { &[] };
            if charged != due {
                faults.push(format!("order {id} was charged {charged:?}, not {due:?}: {order:?}"));
            }
        }
    }

    /// Every charge is that of one payment, and every payment has one.
    fn charges(&self, faults: &mut Vec<String>) {
        let mut references = HashSet::new();
        for charge in &self.charges {
            let reference = &charge.reference;
            if !references.insert(reference) {
                faults.push(format!("payment {reference} was asked of two, or under two names"));
            }
            let payment =
                self.payments.iter().find(|payment| payment.idempotency_key == *reference);
            let Some(payment) = payment else {
                faults.push(format!("a charge is for no payment: {charge:?}"));
                continue;
            };
            let status = match charge.verdict {
                Verdict::Approved => PaymentStatus::Approved,
                Verdict::Declined => PaymentStatus::Rejected,
            };
            let is_same = payment.status == status
                && payment.amount == charge.amount
                && payment.charge_key.as_ref() == Some(&charge.idempotency_key);
            if !is_same {
                faults.push(format!("a charge and its payment disagree: {charge:?}, {payment:?}"));
            }
        }
        for payment in self.payments.iter().filter(|payment| is_settled(payment)) {
            let key = &payment.idempotency_key;
            if !references.contains(key) {
                faults.push(format!("payment {key} is settled, and no provider knows of it"));
            }
        }
    }

    /// A confirmation is mailed once, if at all, and is true.
    fn mails(&self, faults: &mut Vec<String>) {
        for (id, times) in counted(&self.mails) {
            if times > 1 {
                faults.push(format!("order {id} was mailed about {times} times"));
            }
            let order = self.orders.get(id).map(|booked| &booked.order);
            if order.is_none_or(|order| order.status != OrderStatus::Confirmed) {
                faults.push(format!("order {id} was mailed as confirmed, and is {order:?}"));
            }
        }
        if self.unseen_mails > 0 {
            faults.push(format!("{} mails were sent that nobody saw", self.unseen_mails));
        }
    }

    /// What was taken from the stock is kept for orders that there are.
    fn stock(&self, faults: &mut Vec<String>) {
        for (id, kept) in &self.reservations {
            let order = self.orders.get(id).map(|booked| &booked.order);
            if order.is_none_or(|order| order.sku != kept.sku || order.quantity != kept.quantity) {
                faults.push(format!("{kept:?} is kept for {id}, which is {order:?}"));
            }
        }
        for (id, Booked { order, is_payment_begun }) in &self.orders {
            if *is_payment_begun && !self.reservations.contains_key(id) {
                faults.push(format!("nothing is kept for order {id}: {order:?}"));
            }
        }
        for (sku, (before, after)) in &self.stock {
            let kept = self.reservations.values().filter(|kept| kept.sku == *sku);
            let kept: i64 = kept.map(|kept| i64::from(kept.quantity)).sum();
            if before - after != kept {
                faults.push(format!("{sku}: {before} - {after} were taken and {kept} are kept"));
            }
        }
    }
}

fn is_settled(payment: &Payment) -> bool {
    matches!(payment.status, PaymentStatus::Approved | PaymentStatus::Rejected)
}

/// The keys of all payments of an order.
fn attempts(order: &Order) -> Vec<String> {
    (0..=order.payment_attempt)
        .map(|payment_attempt| Order { payment_attempt, ..order.clone() }.payment_key())
        .collect()
}

#[cfg(test)]
mod tests {
    use examples::order::OrderRequest;

    use super::*;
    use crate::told::Known;

    fn request() -> OrderRequest {
        OrderRequest { user_id: 1, sku: "book".into(), quantity: 2, amount: 5 }
    }

    fn payment(key: &str, status: PaymentStatus) -> Payment {
        Payment {
            idempotency_key: key.into(),
            order_id: "a".into(),
            amount: 5,
            status,
            provider: Some("A".into()),
            settled_by: None,
            charge_key: Some(format!("{key}-charge")),
        }
    }

    fn charge(reference: &str, verdict: Verdict) -> Charge {
        let idempotency_key = format!("{reference}-charge");
        Charge { idempotency_key, reference: reference.into(), amount: 5, verdict, requests: 1 }
    }

    /// An order that was declined, paid again and confirmed, and nothing wrong with it.
    fn good() -> (Books, Told) {
        let order = Order {
            order_id: "a".into(),
            status: OrderStatus::Confirmed,
            payment_status: PaymentState::Approved,
            payment_attempt: 1,
            ..request().into_order().unwrap()
        };
        let mut books = Books {
            payments: vec![
                payment("order-a", PaymentStatus::Rejected),
                payment("order-a-1", PaymentStatus::Approved),
            ],
            settlements: vec!["order-a".into(), "order-a-1".into()],
            charges: vec![
                charge("order-a", Verdict::Declined),
                charge("order-a-1", Verdict::Approved),
            ],
            ..Books::default()
        };
        books.orders.insert("a".into(), Booked { order, is_payment_begun: true });
        books.mails.push("a".into());
        books.reservations.insert("a".into(), Kept { sku: "book".into(), quantity: 2 });
        books.stock.insert("book".into(), (10, 8));
        let mut told = Told::default();
        let known = Known { request: request(), is_confirmed: true, was_declined: true };
        told.orders.insert("a".into(), known);
        (books, told)
    }

    /// Asserts that a change to good books is found, and said with these words.
    fn found(words: &str, change: impl FnOnce(&mut Books, &mut Told)) {
        let (mut books, mut told) = good();
        change(&mut books, &mut told);
        let faults = books.faults(&told);
        assert!(faults.iter().any(|fault| fault.contains(words)), "{words}: {faults:?}");
    }

    #[test]
    fn good_books_have_no_faults() {
        let (books, told) = good();
        assert_eq!(books.faults(&told), Vec::<String>::new());
        assert!(books.is_settled());
    }

    #[test]
    fn an_order_that_a_client_was_told_of_is_not_lost_changed_or_taken_back() {
        found("is lost", |books, _| drop(books.orders.remove("a")));
        found("not what was ordered", |_, told| {
            told.orders.get_mut("a").unwrap().request.amount = 6;
        });
        found("not any more", |books, _| order(books).status = OrderStatus::Ordered);
        found("no payment of it was", |books, _| {
            books.payments[0].status = PaymentStatus::Approved;
        });
    }

    #[test]
    fn a_payment_that_stays_open_is_found() {
        for status in [PaymentStatus::Requested, PaymentStatus::Timeout] {
            found("is not settled", |books, _| {
                books.payments[1].status = status;
                assert!(!books.is_settled());
            });
        }
    }

    #[test]
    fn a_payment_that_is_settled_twice_or_unseen_and_an_order_that_is_taken_back_are_found() {
        found("order-a was settled 2 times", |books, _| {
            books.settlements.push("order-a".into());
        });
        found("order-a was settled 0 times", |books, _| drop(books.settlements.remove(0)));
        found("a was taken back", |books, _| books.taken_back.push("a".into()));
    }

    #[test]
    fn a_payment_for_nothing_or_of_another_amount_is_found() {
        found("is for no order", |books, _| books.payments[1].order_id = "b".into());
        found("is not for its order", |books, _| books.payments[1].amount = 6);
        found("is not for its order", |books, _| order(books).payment_attempt = 0);
    }

    #[test]
    fn an_order_that_disagrees_with_its_payment_is_found() {
        found("contradicts itself", |books, _| order(books).status = OrderStatus::Ordered);
        found("disagree", |books, _| books.payments[1].status = PaymentStatus::Rejected);
        found("disagree", |books, _| {
            order(books).payment_status = PaymentState::Pending;
            order(books).status = OrderStatus::Ordered;
            assert!(!books.is_settled());
        });
    }

    #[test]
    fn a_charge_too_many_too_few_or_of_another_amount_is_found() {
        found("was charged [5, 5]", |books, _| {
            books.charges.push(charge("order-a-1", Verdict::Approved));
        });
        found("asked of two", |books, _| {
            books.charges.push(charge("order-a-1", Verdict::Declined));
        });
        found("was charged []", |books, _| drop(books.charges.pop()));
        found("was charged [6]", |books, _| books.charges[1].amount = 6);
        found("no provider knows", |books, _| drop(books.charges.remove(0)));
        found("for no payment", |books, _| books.charges.push(charge("x", Verdict::Approved)));
        found("a charge and its payment disagree", |books, _| {
            books.charges[0].idempotency_key = "another".into();
        });
    }

    #[test]
    fn a_mail_too_many_or_not_true_is_found() {
        found("mailed about 2 times", |books, _| books.mails.push("a".into()));
        found("mailed as confirmed", |books, _| books.mails.push("b".into()));
        found("mailed as confirmed", |books, _| order(books).status = OrderStatus::Ordered);
        found("1 mails were sent that nobody saw", |books, _| books.unseen_mails = 1);
    }

    #[test]
    fn stock_that_is_kept_for_nothing_or_lost_is_found() {
        let kept = || Kept { sku: "book".into(), quantity: 2 };
        found("is kept for b", |books, _| drop(books.reservations.insert("b".into(), kept())));
        found("is kept for a", |books, _| {
            books.reservations.get_mut("a").unwrap().quantity = 1;
        });
        found("nothing is kept", |books, _| drop(books.reservations.remove("a")));
        found("10 - 7 were taken and 2", |books, _| {
            books.stock.insert("book".into(), (10, 7));
        });
    }

    #[test]
    fn stock_that_is_kept_for_an_order_that_nobody_pays_is_found_once_nobody_comes_back() {
        let (mut books, _) = good();
        assert_eq!((books.kept_in_vain(), books.has_forsaken()), (vec![], false));
        books.orders.get_mut("a").unwrap().is_payment_begun = false;
        assert!(books.kept_in_vain()[0].contains("which nobody pays"));
        assert!(books.has_forsaken());
    }

    fn order(books: &mut Books) -> &mut Order {
        &mut books.orders.get_mut("a").unwrap().order
    }
}
