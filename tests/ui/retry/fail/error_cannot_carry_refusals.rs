// wrong: PaymentError
// instead: Refused(#[from] resilience::Error)

use resilience::retry;

enum PaymentError {
    Declined,
}

#[retry]
async fn pay() -> Result<u32, PaymentError> {
    Err(PaymentError::Declined)
}

fn main() {}
