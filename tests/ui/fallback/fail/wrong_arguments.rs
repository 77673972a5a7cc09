use resilience::{CallError, Error, retry};

struct Service;

impl Service {
    #[retry(fallback = Self::later)]
    async fn pay(&self, amount: u32) -> Result<u32, Error> {
        Ok(amount)
    }

    async fn later(&self, amount: u64, _: CallError<Error>) -> Result<u32, Error> {
        Ok(amount as u32)
    }
}

#[retry(fallback = no_error)]
async fn search((from, to): (u32, u32), text: &str) -> Result<Vec<u32>, Error> {
    Ok(vec![from, to, text.len() as u32])
}

fn no_error() -> Result<Vec<u32>, Error> {
    Ok(Vec::new())
}

#[retry(fallback = arguments_but_no_error)]
async fn two_arguments(from: u32, to: u32) -> Result<u32, Error> {
    Ok(from + to)
}

fn arguments_but_no_error(_: u32, _: u32) -> Result<u32, Error> {
    Ok(0)
}

#[retry(fallback = one_argument_but_no_error)]
async fn one_argument(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn one_argument_but_no_error(_: u32) -> Result<u32, Error> {
    Ok(0)
}

fn main() {}
