//! What clients were told, which the system is held to.

use std::collections::{BTreeMap, HashMap};

use examples::order::{OrderRequest, OrderStatus, PaymentState};
use serde_json::Value;

/// An order that a client was told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) request: OrderRequest,
    /// Whether he was told that it is paid; that is never taken back.
    pub(crate) is_confirmed: bool,
    /// Whether he was told that a payment for it was declined.
    pub(crate) was_declined: bool,
}

/// Everything that was told, and what was wrong with it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) orders: HashMap<String, Known>,
    /// What was asked for under each key, and the order that it names.
    pub(crate) keys: HashMap<String, (OrderRequest, Option<String>)>,
    /// How often each thing was told.
    pub(crate) counts: BTreeMap<String, u64>,
    pub(crate) wrong: Vec<String>,
}

/// An answer as it came.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) has_retry_after: bool,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn code(&self) -> &str {
        self.body["error"].as_str().unwrap_or_default()
    }

    fn outcome(&self) -> String {
        let status = self.status;
        match self.body["status"].as_str().zip(self.body["payment_status"].as_str()) {
            Some((order, payment)) => format!("{status} {order} / {payment}"),
            None => format!("{status} {}", self.code()).trim_end().to_owned(),
        }
    }
}

impl Told {
    pub(crate) fn count(&mut self, what: &str, outcome: &str) {
        *self.counts.entry(format!("{what}: {outcome}")).or_default() += 1;
    }

    /// Takes note of an answer, which is one of those that are documented.
    pub(crate) fn answered(&mut self, what: &str, answer: &Answer, allowed: &[(u16, &str)]) {
        self.count(what, &answer.outcome());
        if !allowed.contains(&(answer.status, answer.code())) {
            self.wrong.push(format!("{what} was answered {answer:?}"));
        }
        let is_refusal = matches!(answer.status, 429 | 503);
        if is_refusal && !answer.has_retry_after {
            self.wrong.push(format!("{what} was refused without Retry-After: {answer:?}"));
        }
    }

    /// Takes note of an order that stands, as an answer says. Who is told that it is placed is told
    /// which one it is.
    pub(crate) fn order(&mut self, request: &OrderRequest, key: Option<&str>, answer: &Answer) {
        let Some(id) = answer.body["order_id"].as_str() else {
            if matches!(answer.status, 200 | 402) {
                self.wrong.push(format!("an order has no name: {answer:?}"));
            }
            return;
        };
        let status = serde_json::from_value(answer.body["status"].clone());
        let payment = serde_json::from_value(answer.body["payment_status"].clone());
        let (Ok(status), Ok(payment)) = (status, payment) else {
            self.wrong.push(format!("order {id} has no status: {answer:?}"));
            return;
        };
        let (status, payment): (OrderStatus, PaymentState) = (status, payment);
        if payment.confirms() != status {
            self.wrong.push(format!("order {id} was said to be {status:?} / {payment:?}"));
        }
        if let Some((_, named)) = key.and_then(|key| self.keys.get_mut(key)) {
            let named = named.get_or_insert_with(|| id.to_owned());
            if named != id {
                self.wrong.push(format!("one key names {named} and {id}"));
            }
        }
        let known = self.orders.entry(id.to_owned()).or_insert_with(|| Known {
            request: request.clone(),
            is_confirmed: false,
            was_declined: false,
        });
        known.is_confirmed |= status == OrderStatus::Confirmed;
        known.was_declined |= payment == PaymentState::Rejected;
    }

    /// Takes note of an order that was read: it says what was said before, or more.
    pub(crate) fn read(&mut self, id: &str, was_confirmed: bool, answer: &Answer) {
        let Some(Known { request, .. }) = self.orders.get(id) else { return };
        let same = answer.body["user_id"] == request.user_id
            && answer.body["sku"] == *request.sku
            && answer.body["quantity"] == request.quantity
            && answer.body["amount"] == request.amount
            && answer.body["order_id"] == *id;
        if !same || (was_confirmed && answer.body["status"] != "CONFIRMED") {
            self.wrong.push(format!("order {id} of {request:?} was read as {answer:?}"));
        }
        let request = request.clone();
        self.order(&request, None, answer);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request() -> OrderRequest {
        OrderRequest { user_id: 1, sku: "book".into(), quantity: 1, amount: 5 }
    }

    fn answer(status: u16, body: Value) -> Answer {
        Answer { status, has_retry_after: false, body }
    }

    fn stands(id: &str, status: &str, payment: &str) -> Answer {
        let body = json!({ "order_id": id, "user_id": 1, "sku": "book", "quantity": 1, "amount": 5,
            "status": status, "payment_status": payment });
        answer(200, body)
    }

    fn wrong(told: impl FnOnce(&mut Told)) -> String {
        let mut all = Told::default();
        told(&mut all);
        all.wrong.join("; ")
    }

    #[test]
    fn an_answer_that_is_not_documented_is_wrong() {
        let failed = answer(500, json!({ "error": "INTERNAL" }));
        let allowed = [(200, ""), (503, "INTERNAL")];
        assert!(wrong(|told| told.answered("an order", &failed, &allowed)).contains("INTERNAL"));
        let fine = answer(200, json!({}));
        assert_eq!(wrong(|told| told.answered("an order", &fine, &allowed)), "");
    }

    #[test]
    fn a_refusal_that_does_not_say_when_to_come_back_is_wrong() {
        let refused = answer(503, json!({ "error": "X" }));
        let allowed = [(503, "X")];
        let said = wrong(|told| told.answered("an order", &refused, &allowed));
        assert!(said.contains("Retry-After"), "{said}");
        let refused = Answer { has_retry_after: true, ..refused };
        assert_eq!(wrong(|told| told.answered("an order", &refused, &allowed)), "");
    }

    #[test]
    fn an_order_that_is_placed_and_has_no_name_is_wrong() {
        let said = |status, body| wrong(|told| told.order(&request(), None, &answer(status, body)));
        for body in [json!(null), json!({}), json!({ "order_id": 1 })] {
            assert!(said(200, body.clone()).contains("no name"), "{body}");
            assert!(said(402, body.clone()).contains("no name"), "{body}");
            assert_eq!(said(503, body), "", "it was not placed");
        }
    }

    #[test]
    fn an_order_that_is_confirmed_without_a_payment_is_wrong() {
        let said = |payment| {
            wrong(|told| told.order(&request(), None, &stands("a", "CONFIRMED", payment)))
        };
        assert!(said("PENDING").contains("PENDING") || said("PENDING").contains("Pending"));
        assert_eq!(said("APPROVED"), "");
    }

    #[test]
    fn a_key_that_names_two_orders_is_wrong() {
        let said = |second| {
            wrong(|told| {
                told.keys.insert("k".into(), (request(), None));
                told.order(&request(), Some("k"), &stands("a", "ORDERED", "PENDING"));
                told.order(&request(), Some("k"), &stands(second, "CONFIRMED", "APPROVED"));
            })
        };
        assert!(said("b").contains("one key names a and b"));
        assert_eq!(said("a"), "");
    }

    #[test]
    fn a_confirmation_that_is_taken_back_is_wrong() {
        let said = |was_confirmed| {
            wrong(|told| {
                told.order(&request(), None, &stands("a", "CONFIRMED", "APPROVED"));
                told.read("a", was_confirmed, &stands("a", "ORDERED", "PENDING"));
            })
        };
        assert!(said(true).contains("order a"));
        assert_eq!(said(false), "", "the confirmation came after the read had begun");
    }
}
