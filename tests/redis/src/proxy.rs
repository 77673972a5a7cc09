//! What can go wrong on the way to a server.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU16, Ordering},
    },
    thread,
    time::Duration,
};

use socket2::SockRef;

/// What the proxy does to decisions: commands that run a script.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Nothing.
    None,
    /// Answers come later. Of one connection they come one by one.
    Delay(Duration),
    /// Answers in the server's place, which is not asked.
    Answer(&'static [u8]),
    /// Closes the connection instead of passing the decision on.
    Cut,
    /// Passes so many bytes of the answer on, and resets the connection.
    Reset {
        /// How many.
        after: usize,
    },
    /// Passes so many bytes of the answer on, and is silent for good.
    Silence {
        /// How many.
        after: usize,
    },
    /// Takes connections, and passes nothing on in them, be it a decision or not.
    Hole,
}

/// Stands between clients and a server.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: AtomicU16,
    closes: AtomicBool,
    fault: Mutex<Fault>,
    decisions: Mutex<Vec<Vec<u8>>>,
    connections: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Starts to pass everything on to a server on this machine.
    ///
    /// # Panics
    ///
    /// When there is no free port.
    pub fn start(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared {
            server: server.into(),
            closes: AtomicBool::new(false),
            fault: Mutex::new(Fault::None),
            decisions: Mutex::default(),
            connections: Mutex::default(),
        });
        thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self { port, shared }
    }

    /// Its address as a store takes it.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Has this go wrong from the next decision on.
    pub fn set(&self, fault: Fault) {
        *lock(&self.shared.fault) = fault;
    }

    /// Has the next connections lead to another server.
    pub fn lead_to(&self, server: u16) {
        self.shared.server.store(server, Ordering::SeqCst);
    }

    /// Closes all connections.
    pub fn cut(&self) {
        for connection in lock(&self.shared.connections).drain(..) {
            // It may be closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    /// The decisions that were asked for, as they came.
    pub fn decisions(&self) -> Vec<Vec<u8>> {
        lock(&self.shared.decisions).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.closes.store(true, Ordering::SeqCst);
        // Wakes whoever accepts.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        self.cut();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming().flatten() {
        if shared.closes.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        // One that ends in an error has ended.
        thread::spawn(move || drop(serve(client, &shared)));
    }
}

/// Passes commands on, one after the other. An error ends the connection.
fn serve(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    client.set_nodelay(true)?;
    lock(&shared.connections).push(client.try_clone()?);
    let mut commands = BufReader::new(client.try_clone()?);
    if matches!(*lock(&shared.fault), Fault::Hole) {
        return wait_for_the_end(&mut commands);
    }
    let mut server =
        TcpStream::connect((Ipv4Addr::LOCALHOST, shared.server.load(Ordering::SeqCst)))?;
    server.set_nodelay(true)?;
    let mut answers = BufReader::new(server.try_clone()?);
    loop {
        let command = message(&mut commands)?;
        let fault = if is_decision(&command) {
            lock(&shared.decisions).push(command.clone());
            *lock(&shared.fault)
        } else {
            Fault::None
        };
        match fault {
            Fault::Answer(answer) => {
                client.write_all(answer)?;
                continue;
            }
            Fault::Cut => return client.shutdown(Shutdown::Both),
            Fault::Hole => return wait_for_the_end(&mut commands),
            _ => {}
        }
        server.write_all(&command)?;
        let answer = message(&mut answers)?;
        match fault {
            Fault::Delay(delay) => thread::sleep(delay),
            Fault::Reset { after } => {
                client.write_all(&answer[..after.min(answer.len())])?;
                // A socket that does not linger is reset when it is closed, once nobody holds it.
                SockRef::from(&client).set_linger(Some(Duration::ZERO))?;
                lock(&shared.connections).clear();
                return Ok(());
            }
            Fault::Silence { after } => {
                client.write_all(&answer[..after.min(answer.len())])?;
                return wait_for_the_end(&mut commands);
            }
            _ => {}
        }
        client.write_all(&answer)?;
    }
}

fn is_decision(command: &[u8]) -> bool {
    let name = command.split(|&byte| byte == b'\n').nth(2);
    name.is_some_and(|name| name.starts_with(b"EVAL"))
}

fn wait_for_the_end(commands: &mut BufReader<TcpStream>) -> io::Result<()> {
    io::copy(commands, &mut io::sink()).map(drop)
}

/// Reads one message of the protocol as it is: a command is a list of texts, an answer anything.
fn message(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    let mut parts = 1;
    while parts > 0 {
        parts -= 1;
        let start = message.len();
        if from.read_until(b'\n', &mut message)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = &message[start..];
        match line[0] {
            b'*' => parts += number(line).unwrap_or(0),
            b'$' => {
                // With the end of its line; nothing has none.
                if let Some(length) = number(line) {
                    from.take(length + 2).read_to_end(&mut message)?;
                }
            }
            _ => {}
        }
    }
    Ok(message)
}

/// The number in a line such as `$5`; of what is not there it is below zero.
fn number(line: &[u8]) -> Option<u64> {
    str::from_utf8(&line[1..]).ok()?.trim_end().parse().ok()
}
