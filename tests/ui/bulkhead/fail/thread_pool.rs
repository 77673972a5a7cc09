use resilience::{Error, bulkhead};

#[bulkhead(type = "thread_pool")]
async fn already_async() -> Result<u32, Error> {
    Ok(1)
}

#[bulkhead(type = "threads")]
async fn no_such_type() -> Result<u32, Error> {
    Ok(1)
}

#[bulkhead(type = "thread_pool", max_concurrent_calls = 3)]
fn key_of_the_other_type() -> Result<u32, Error> {
    Ok(1)
}

struct Service;

impl Service {
    #[bulkhead(type = "thread_pool")]
    fn by_reference(&self, text: &str) -> Result<usize, Error> {
        Ok(text.len())
    }
}

fn main() {}
