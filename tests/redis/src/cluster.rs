//! A cluster on one machine.

use redis::{Connection, RedisResult};

use crate::server::{Server, connect, info, wait_until};

const SLOTS: u16 = 16_384;

/// Masters that have the slots among them in equal parts, each with as many replicas as asked for.
pub struct Cluster {
    nodes: Vec<Server>,
    masters: usize,
}

impl Cluster {
    /// Starts three masters, with a replica each or without.
    ///
    /// # Panics
    ///
    /// When they do not come together.
    pub fn start(with_replicas: bool) -> Self {
        let masters = 3;
        let nodes: Vec<_> = (0..if with_replicas { 6 } else { 3 })
            .map(|_| {
                Server::start_with(&[
                    "--cluster-enabled",
                    "yes",
                    "--cluster-node-timeout",
                    "1000",
                    // A master that is down takes only its own keys with it.
                    "--cluster-require-full-coverage",
                    "no",
                    "--cluster-replica-validity-factor",
                    "0",
                ])
            })
            .collect();
        let cluster = Self { nodes, masters };
        cluster.join();
        cluster
    }

    /// Where the first node is, which knows all others.
    pub fn url(&self) -> String {
        self.nodes[0].url()
    }

    /// The nodes: masters first, then replicas in the order of their masters.
    pub fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    /// Ends a node at once.
    pub fn kill(&mut self, node: usize) {
        self.nodes[node].kill();
    }

    /// The master that a key was given to at first.
    ///
    /// # Panics
    ///
    /// When no node is up.
    pub fn master_of(&self, key: &str) -> usize {
        let slot = self.slot_of(key);
        (0..self.masters).find(|&master| slot < self.end(master)).expect("a slot")
    }

    /// A name whose limit is on that master.
    ///
    /// # Panics
    ///
    /// When no node is up.
    pub fn name_on(&self, master: usize) -> String {
        let names = (0..).map(|number| format!("limit-{number}"));
        names.into_iter().find(|name| self.master_of(name) == master).expect("there is no end")
    }

    /// Moves the slot of a key with all that is in it, as tools do it: step by step, while the server
    /// answers others.
    ///
    /// # Panics
    ///
    /// When a step fails.
    pub fn migrate(&self, key: &str, to: usize) {
        let slot = self.slot_of(key);
        let from = self.master_of(key);
        let (mut source, mut target) = (self.nodes[from].connect(), self.nodes[to].connect());
        let (source_id, target_id) = (id(&mut source), id(&mut target));
        let set = |connection: &mut Connection, how: &str, node: &str| -> RedisResult<()> {
            redis::cmd("CLUSTER").arg("SETSLOT").arg(slot).arg(how).arg(node).query(connection)
        };
        set(&mut target, "IMPORTING", &source_id).expect("the target takes the slot");
        set(&mut source, "MIGRATING", &target_id).expect("the source gives the slot");
        loop {
            let mut command = redis::cmd("CLUSTER");
            command.arg("GETKEYSINSLOT").arg(slot).arg(100);
            let keys: Vec<String> = command.query(&mut source).expect("keys");
            if keys.is_empty() {
                break;
            }
            for key in keys {
                let mut command = redis::cmd("MIGRATE");
                command.arg("127.0.0.1").arg(self.nodes[to].port()).arg(key).arg(0).arg(5_000);
                let () = command.query(&mut source).expect("a key moves");
            }
        }
        set(&mut target, "NODE", &target_id).expect("the target has the slot");
        set(&mut source, "NODE", &target_id).expect("the source knows");
    }

    fn slot_of(&self, key: &str) -> u16 {
        let mut command = redis::cmd("CLUSTER");
        command.arg("KEYSLOT").arg(key);
        let mut nodes = self.nodes.iter().filter_map(|node| connect(&node.url()).ok());
        command.query(&mut nodes.next().expect("a node that is up")).expect("a slot")
    }

    /// The first slot after those of a master.
    fn end(&self, master: usize) -> u16 {
        let share = SLOTS / u16::try_from(self.masters).expect("a few");
        if master + 1 == self.masters {
            SLOTS
        } else {
            share * (u16::try_from(master).expect("a few") + 1)
        }
    }

    fn join(&self) {
        let mut connections: Vec<_> = self.nodes.iter().map(Server::connect).collect();
        let mut start = 0;
        for (master, connection) in connections.iter_mut().enumerate().take(self.masters) {
            let mut command = redis::cmd("CLUSTER");
            command.arg("ADDSLOTSRANGE").arg(start).arg(self.end(master) - 1);
            let () = command.query(connection).expect("slots are given");
            start = self.end(master);
        }
        for node in &self.nodes[1..] {
            let mut command = redis::cmd("CLUSTER");
            command.arg("MEET").arg("127.0.0.1").arg(node.port());
            let () = command.query(&mut connections[0]).expect("nodes meet");
        }
        wait_until("the nodes know each other", || {
            connections.iter_mut().all(|node| tells(node, "INFO").contains(&self.all_known()))
        });
        for replica in self.masters..self.nodes.len() {
            let master = id(&mut connections[replica - self.masters]);
            let mut command = redis::cmd("CLUSTER");
            command.arg("REPLICATE").arg(master);
            let () = command.query(&mut connections[replica]).expect("a replica");
            wait_until("the replica has the data", || {
                info(&mut connections[replica], "replication").contains("master_link_status:up")
            });
        }
        wait_until("the cluster is well", || {
            connections.iter_mut().all(|node| {
                let said = tells(node, "INFO");
                said.contains("cluster_state:ok") && said.contains("cluster_slots_ok:16384")
            })
        });
    }

    fn all_known(&self) -> String {
        format!("cluster_known_nodes:{}\r\n", self.nodes.len())
    }
}

fn tells(node: &mut Connection, what: &str) -> String {
    redis::cmd("CLUSTER").arg(what).query(node).expect("a node of a cluster")
}

fn id(node: &mut Connection) -> String {
    tells(node, "MYID")
}
