//! What the script decides, by tables of what nodes tell.

use std::{thread::sleep, time::Duration};

use redis::{Connection, RedisResult, Script};

use resilience_redis_tests::server::Server;

const CLOSED: i64 = 0;
const OPEN: i64 = 1;
const HALF_OPEN: i64 = 2;

const KEY: &str = "shop:cb:{pay}";
const MILLIS: i64 = 1_000;
const MINUTE: i64 = 60_000 * MILLIS;

/// What a node says unless a test has it say something else: opens at half of ten calls for a minute, and
/// closes by two of three probes.
const DEFAULTS: &[(&str, i64)] = &[
    ("window", MINUTE),
    ("minimum", 10),
    ("failure_rate", 50),
    ("slow_rate", 100),
    ("min_nodes", 1),
    ("permitted", 3),
    ("half_open_minimum", 2),
    ("half_open_failure_rate", 50),
    ("conclusive", 0),
    ("lease", MINUTE),
    ("share", 3),
    ("wait", MINUTE),
    ("next_wait", 2 * MINUTE),
    ("longest_wait", 60 * MINUTE),
    ("longest_half_open", 0),
    ("then_closed", 0),
    ("automatic", 0),
    ("calls", 0),
    ("failed", 0),
    ("slow", 0),
    ("is_failing", 0),
    ("is_slowed", 0),
    ("probed", 0),
    ("probes_failed", 0),
    ("probes_slow", 0),
    ("held", 0),
    ("wanted", 0),
];

#[derive(Debug, Clone, Copy, PartialEq)]
struct Answer {
    state: i64,
    generation: i64,
    left: i64,
    lent: i64,
    openings: i64,
}

/// A server and the nodes that speak with it; each says what it was last told of.
struct Shop {
    server: Server,
    connection: Connection,
    script: Script,
    settings: Vec<(&'static str, i64)>,
    exchanges: i64,
    generations: Vec<(&'static str, i64)>,
}

impl Shop {
    fn new(settings: &[(&'static str, i64)]) -> Self {
        let server = Server::start();
        Self {
            connection: server.connect(),
            server,
            script: Script::new(include_str!(
                "../../../../resilience/src/store/scripts/breaker.lua"
            )),
            settings: settings.to_vec(),
            exchanges: 0,
            generations: Vec::new(),
        }
    }

    fn try_ask(&mut self, node: &str, says: &[(&str, i64)]) -> RedisResult<Answer> {
        self.exchanges += 1;
        let generation = self.generations.iter().find(|(of, _)| *of == node);
        let own =
            [("exchange", self.exchanges), ("generation", generation.map_or(0, |known| known.1))];
        let mut call = self.script.key(KEY);
        call.arg(node);
        for (name, number) in DEFAULTS.iter().chain(&self.settings).chain(&own).chain(says) {
            call.arg(*name).arg(*number);
        }
        let [state, generation, left, probes, openings]: [i64; 5] =
            call.invoke(&mut self.connection)?;
        self.server.keys();
        Ok(Answer { state, generation, left, lent: probes, openings })
    }

    fn ask(&mut self, node: &'static str, says: &[(&str, i64)]) -> Answer {
        let answer = self.try_ask(node, says).unwrap();
        self.generations.retain(|(of, _)| *of != node);
        self.generations.push((node, answer.generation));
        answer
    }

    /// The node sees so many failures.
    fn fail(&mut self, node: &'static str, calls: i64, failed: i64) -> Answer {
        let is_failing = i64::from(failed * 2 >= calls);
        self.ask(node, &[("calls", calls), ("failed", failed), ("is_failing", is_failing)])
    }

    /// Somebody opened it, and its wait is over.
    fn opened(settings: &[(&'static str, i64)]) -> Self {
        let mut shop = Self::new(settings);
        let opened =
            shop.ask("a", &[("calls", 10), ("failed", 10), ("is_failing", 1), ("wait", 0)]);
        assert_eq!((opened.state, opened.left, opened.openings), (OPEN, 0, 1));
        shop
    }

    fn run(&mut self, command: &str, arguments: &[&str]) {
        redis::cmd(command).arg(arguments).exec(&mut self.connection).unwrap();
    }
}

#[test]
fn rates_of_enough_calls_open_it() {
    for (calls, failed, state) in [
        (9, 9, CLOSED),
        (10, 4, CLOSED),
        (10, 5, OPEN),
        (11, 5, CLOSED),
        (1_000_000, 500_000, OPEN),
    ] {
        let mut shop = Shop::new(&[]);
        let says = [("calls", calls), ("failed", failed), ("is_failing", 1)];
        assert_eq!(shop.ask("a", &says).state, state, "{failed} of {calls}");
    }
    let mut shop = Shop::new(&[("slow_rate", 80)]);
    let says = |slow| [("calls", 5), ("slow", slow), ("is_slowed", 1)];
    assert_eq!(shop.ask("a", &says(3)).state, CLOSED);
    assert_eq!(shop.ask("b", &says(5)).state, OPEN, "8 of 10");
}

#[test]
fn the_calls_of_all_nodes_count() {
    let mut shop = Shop::new(&[]);
    for node in ["a", "b", "c"] {
        assert_eq!(shop.fail(node, 3, 2).state, CLOSED, "{node}");
    }
    assert_eq!(shop.fail("a", 1, 0).state, OPEN, "6 of 10");
}

#[test]
fn it_opens_only_if_enough_nodes_see_too_many_failures() {
    for (min_nodes, states) in [(1, [OPEN; 4]), (2, [CLOSED, CLOSED, OPEN, OPEN])] {
        let mut shop = Shop::new(&[("min_nodes", min_nodes)]);
        let told = [
            shop.fail("sick", 100, 100).state,
            shop.fail("well", 10, 1).state,
            shop.fail("ailing", 10, 6).state,
            shop.ask("new", &[]).state,
        ];
        assert_eq!(told, states, "{min_nodes}");
    }
}

#[test]
fn a_node_that_is_well_again_is_no_witness() {
    let mut shop = Shop::new(&[("min_nodes", 2)]);
    shop.fail("a", 100, 100);
    assert_eq!(shop.ask("a", &[("calls", 10)]).state, CLOSED);
    assert_eq!(shop.fail("b", 100, 100).state, CLOSED, "a sees none any more");
    assert_eq!(shop.fail("a", 10, 10).state, OPEN);
}

#[test]
fn calls_leave_the_window_and_witnesses_with_them() {
    let mut shop = Shop::new(&[("window", 200 * MILLIS)]);
    shop.fail("a", 9, 9);
    sleep(Duration::from_millis(250));
    assert_eq!(shop.fail("a", 1, 1).state, CLOSED, "9 are forgotten");
    let mut shop = Shop::new(&[("window", 200 * MILLIS), ("min_nodes", 2)]);
    shop.fail("a", 10, 10);
    sleep(Duration::from_millis(250));
    assert_eq!(shop.fail("b", 10, 10).state, CLOSED, "a is forgotten");
}

#[test]
fn what_was_counted_before_it_opened_is_not_counted_after_it() {
    let mut shop = Shop::opened(&[]);
    let late = [("calls", 10), ("failed", 10), ("is_failing", 1)];
    shop.ask("a", &[("wanted", 3)]);
    assert_eq!(shop.ask("a", &[("probed", 2)]).state, CLOSED);
    assert_eq!(shop.ask("late", &late).state, CLOSED, "it knew nothing of all that");
    assert_eq!(shop.ask("late", &late).state, OPEN, "now it does");
}

#[test]
fn open_ends_when_its_time_is_over_and_somebody_has_calls() {
    let mut shop = Shop::new(&[("wait", 100 * MILLIS)]);
    let opened = shop.fail("a", 10, 10);
    assert!((90 * MILLIS..=100 * MILLIS).contains(&opened.left), "{opened:?}");
    assert_eq!(shop.ask("a", &[("wanted", 1)]).state, OPEN, "too early");
    sleep(Duration::from_millis(110));
    let writes = shop.server.writes();
    assert_eq!(shop.ask("b", &[]).state, OPEN, "nobody has calls");
    assert_eq!(shop.server.writes(), writes);
    let half_open = shop.ask("b", &[("wanted", 1)]);
    assert_eq!((half_open.state, half_open.lent), (HALF_OPEN, 1));
    assert!(half_open.generation > opened.generation);
    // As exactly as it is written.
    let written: String =
        redis::cmd("HGET").arg(KEY).arg("generation").query(&mut shop.connection).unwrap();
    assert_eq!(written, half_open.generation.to_string());
}

#[test]
fn with_automatic_transition_time_alone_ends_it() {
    let mut shop = Shop::opened(&[("automatic", 1)]);
    let half_open = shop.ask("b", &[]);
    assert_eq!((half_open.state, half_open.lent), (HALF_OPEN, 0));
}

#[test]
fn probes_are_lent_up_to_the_permitted_number_over_all_nodes() {
    let mut shop = Shop::opened(&[("permitted", 5), ("half_open_minimum", 5), ("share", 2)]);
    let lent = ["a", "b", "c", "d"].map(|node| shop.ask(node, &[("wanted", 9)]).lent);
    assert_eq!(lent, [2, 2, 1, 0]);
    assert_eq!(shop.ask("a", &[("wanted", 9), ("held", 1), ("probed", 1)]).lent, 0, "none is left");
    assert_eq!(shop.ask("b", &[("held", 1)]).lent, 0, "it has given one back");
    assert_eq!(shop.ask("d", &[("wanted", 9)]).lent, 1);
}

#[test]
fn a_node_that_is_not_heard_of_loses_its_probes_but_not_its_results() {
    let mut shop = Shop::opened(&[("half_open_minimum", 3), ("lease", 100 * MILLIS)]);
    assert_eq!(shop.ask("dead", &[("wanted", 3)]).lent, 3);
    shop.ask("dead", &[("held", 2), ("probed", 1)]);
    assert_eq!(shop.ask("b", &[("wanted", 3)]).lent, 0);
    sleep(Duration::from_millis(110));
    assert_eq!(shop.ask("b", &[("wanted", 3)]).lent, 2);
    assert_eq!(shop.ask("b", &[("probed", 2)]).state, CLOSED, "three of three");
}

#[test]
fn an_exchange_that_comes_late_changes_nothing() {
    let mut shop = Shop::opened(&[("half_open_minimum", 3)]);
    shop.ask("a", &[("wanted", 3)]);
    shop.ask("a", &[("held", 1), ("probed", 2)]);
    let overtaken = shop.ask("a", &[("exchange", 1), ("held", 3), ("wanted", 3)]);
    assert_eq!((overtaken.state, overtaken.lent), (HALF_OPEN, 0));
    assert_eq!(shop.ask("b", &[("wanted", 3)]).lent, 0, "one is on its way, two have ended");
}

#[test]
fn probes_whose_lending_was_never_heard_of_are_free_again() {
    let mut shop = Shop::opened(&[]);
    assert_eq!(shop.try_ask("a", &[("wanted", 3)]).unwrap().lent, 3);
    // It goes by what it was told before.
    assert_eq!(shop.try_ask("a", &[]).unwrap().lent, 0);
    assert_eq!(shop.ask("b", &[("wanted", 3)]).lent, 3);
}

#[test]
fn probes_decide_as_in_one_process() {
    let eager = [("half_open_minimum", 2), ("permitted", 3), ("conclusive", 0)];
    let conclusive = [("half_open_minimum", 1), ("permitted", 4), ("conclusive", 1)];
    for (settings, probed, failed, slow, state) in [
        (eager, 1, 1, 0, HALF_OPEN),
        (eager, 2, 0, 0, CLOSED),
        (eager, 2, 1, 0, OPEN),
        (eager, 3, 1, 0, CLOSED),
        (eager, 2, 0, 2, OPEN),
        (eager, 2, 0, 1, CLOSED),
        (conclusive, 1, 1, 0, HALF_OPEN),
        (conclusive, 2, 0, 0, HALF_OPEN),
        (conclusive, 2, 2, 0, OPEN),
        (conclusive, 3, 0, 0, CLOSED),
        (conclusive, 3, 1, 0, HALF_OPEN),
        (conclusive, 4, 1, 3, CLOSED),
    ] {
        let mut shop = Shop::opened(&settings);
        shop.ask("a", &[("wanted", 3)]);
        let says = [("probed", probed), ("probes_failed", failed), ("probes_slow", slow)];
        let answer = shop.ask("a", &says);
        assert_eq!(answer.state, state, "{settings:?} {says:?}");
        let (openings, left) = match state {
            OPEN => (2, 2 * MINUTE),
            HALF_OPEN => (1, 0),
            _ => (0, 0),
        };
        assert_eq!((answer.openings, answer.left), (openings, left), "{settings:?} {says:?}");
    }
}

#[test]
fn the_probes_of_all_nodes_decide() {
    let mut shop = Shop::opened(&[("half_open_minimum", 3), ("share", 1)]);
    for node in ["a", "b", "c"] {
        assert_eq!(shop.ask(node, &[("wanted", 1)]).lent, 1);
    }
    assert_eq!(shop.ask("a", &[("probed", 1), ("probes_failed", 1)]).state, HALF_OPEN);
    assert_eq!(shop.ask("b", &[("probed", 1), ("probes_failed", 1)]).state, HALF_OPEN);
    assert_eq!(shop.ask("c", &[("probed", 1)]).state, OPEN, "two of three");
}

#[test]
fn half_open_has_a_longest_time() {
    for (then_closed, state) in [(0, OPEN), (1, CLOSED)] {
        let settings = [("longest_half_open", 100 * MILLIS), ("then_closed", then_closed)];
        let mut shop = Shop::opened(&settings);
        let half_open = shop.ask("a", &[("wanted", 1)]);
        assert!(half_open.left > 90 * MILLIS, "{half_open:?}");
        sleep(Duration::from_millis(110));
        assert_eq!(shop.ask("b", &[]).state, state);
    }
}

#[test]
fn fewer_permitted_probes_than_have_ended_still_decide() {
    let mut shop = Shop::opened(&[("half_open_minimum", 3)]);
    shop.ask("a", &[("wanted", 3)]);
    shop.ask("a", &[("probed", 2)]);
    let fewer = [("permitted", 1), ("half_open_minimum", 1)];
    let says = [("wanted", 1)];
    assert_eq!(shop.ask("b", &[&fewer[..], &says].concat()).state, CLOSED);
}

#[test]
fn who_has_nothing_to_tell_writes_nothing() {
    let mut shop = Shop::new(&[]);
    let quiet = |shop: &mut Shop, state| {
        let writes = shop.server.writes();
        assert_eq!(shop.ask("observer", &[]).state, state);
        assert_eq!(shop.server.writes(), writes);
    };
    quiet(&mut shop, CLOSED);
    shop.fail("a", 9, 9);
    quiet(&mut shop, CLOSED);
    shop.ask("a", &[("calls", 1), ("failed", 1), ("is_failing", 1), ("wait", 0)]);
    quiet(&mut shop, OPEN);
    shop.ask("a", &[("wanted", 1)]);
    quiet(&mut shop, HALF_OPEN);
}

#[test]
fn a_stay_longer_than_any_is_cut() {
    let mut shop = Shop::new(&[("wait", MINUTE)]);
    shop.fail("a", 10, 10);
    // As after the server's clock was set back.
    shop.run("HINCRBY", &[KEY, "ends", "86400000000"]);
    let cut = shop.ask("a", &[("longest_wait", 5 * MINUTE)]);
    assert_eq!((cut.state, cut.left), (OPEN, 5 * MINUTE));
}

#[test]
fn a_stay_that_was_cut_ends() {
    let mut shop = Shop::new(&[("wait", MINUTE)]);
    shop.fail("a", 10, 10);
    shop.run("HINCRBY", &[KEY, "ends", "86400000000"]);
    let longest = ("longest_wait", 50_000);
    assert_eq!(shop.ask("a", &[longest]).state, OPEN);
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert_eq!(shop.ask("a", &[longest, ("wanted", 1)]).state, HALF_OPEN);
}

#[test]
fn what_no_script_has_written_counts_as_nothing() {
    for fields in [
        &["state", "x"][..],
        &["state", "7", "generation", "-1", "ends", "1e400"],
        &["bucket0", "x", "bucket1", "1 2 3", "bucket2", "99999999999999999999 1 1 1"],
        &["generation", "9007199254740993", "openings", "nan"],
    ] {
        let mut shop = Shop::new(&[]);
        shop.run("HSET", &[&[KEY], fields].concat());
        shop.run("PEXPIRE", &[KEY, "60000"]);
        assert_eq!(shop.ask("a", &[]).state, CLOSED, "{fields:?}");
        assert_eq!(shop.fail("a", 9, 9).state, CLOSED, "{fields:?}");
        assert_eq!(shop.fail("a", 1, 1).state, OPEN, "{fields:?}");
    }
    let mut shop = Shop::opened(&[]);
    shop.ask("a", &[]);
    shop.ask("b", &[("wanted", 1)]);
    shop.run("HSET", &[&format!("{KEY}:probes"), "x", "y", "z", "1 2 3"]);
    assert_eq!(shop.ask("a", &[("wanted", 3)]).lent, 2);
}

#[test]
fn something_else_under_the_key_is_an_error() {
    let mut shop = Shop::new(&[]);
    shop.run("SET", &[KEY, "x", "PX", "60000"]);
    let error = shop.try_ask("a", &[]).unwrap_err();
    assert!(error.to_string().contains("WRONGTYPE"), "{error}");
}
