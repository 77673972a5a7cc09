//! One of several processes that share a limit: does the task in its argument.

use std::{env, error::Error};

use resilience_redis_tests::nodes::Task;

fn main() -> Result<(), Box<dyn Error>> {
    let task = env::args().nth(1).ok_or("expected a task as JSON")?;
    let task: Task = serde_json::from_str(&task)?;
    Ok(task.run()?)
}
