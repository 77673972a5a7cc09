//! The section `redis`, in which the store stands that processes share.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use resilience::{
    Config,
    config::{ConfigBuilder, ConfigError, Format, Origin},
};

const GLOBAL: &str = "
redis: { url: 'redis://:sesame@cache:6379', namespace: shop }
ratelimiter.instances.orders:
  { limit_refresh_period: 1s, scope: global, on_store_failure: local }
";

fn yaml(text: &str) -> ConfigBuilder {
    Config::builder().env(false).text(text, Format::Yaml)
}

fn refused(builder: ConfigBuilder) -> String {
    builder.load().unwrap_err().to_string()
}

/// The settings of the store that are not defaults.
fn of_store(config: &Config) -> Vec<String> {
    let all = config.effective().into_iter();
    let set =
        all.filter(|(path, _, origin)| path.starts_with("redis.") && *origin != Origin::Default);
    set.map(|(path, value, _)| format!("{path} = {value}")).collect()
}

#[test]
fn every_format_spelling_and_root_says_the_same() {
    let expected = [
        "redis.urls = [redis://a, redis://b]",
        "redis.namespace = shop:eu",
        "redis.decision_timeout = 20ms",
        "redis.connect_timeout = 2s",
        "redis.nodes = 3",
    ];
    for (text, format) in [
        (
            "redis:\n  urls: [redis://a, redis://b]\n  namespace: shop:eu\n  decisionTimeout: 20\n  \
             connect-timeout: 2s\n  nodes: 3",
            Format::Yaml,
        ),
        (
            "resilience.redis: { url: 'redis://a,redis://b', namespace: 'shop:eu', \
             decision_timeout: PT0.02S, connectTimeout: 2000ms, NODES: 3 }",
            Format::Yaml,
        ),
        (
            "[resilience4j.redis]\nurls = ['redis://a', 'redis://b']\nnamespace = 'shop:eu'\n\
             decision-timeout = '20ms'\nconnect_timeout = '2s'\nnodes = 3",
            Format::Toml,
        ),
        (
            "resilience.redis.urls[0]=redis://a\nresilience.redis.urls[1]=redis://b\n\
             resilience.redis.namespace=shop:eu\nresilience.redis.decision-timeout=20ms\n\
             resilience.redis.connect-timeout=2s\nresilience.redis.nodes=3",
            Format::Properties,
        ),
        (
            r#"{"redis": {"urls": ["redis://a", "redis://b"], "namespace": "shop:eu",
                "decisionTimeout": "20ms", "connectTimeout": "2s", "nodes": 3}}"#,
            Format::Json,
        ),
    ] {
        let config = Config::builder().env(false).text(text, format).load();
        assert_eq!(of_store(&config.unwrap()), expected, "{text}");
    }
    let in_code = [
        ("redis.url", "redis://a,redis://b"),
        ("redis.namespace", "shop:eu"),
        ("redis.decision_timeout", "20ms"),
        ("redis.connect_timeout", "2s"),
        ("redis.nodes", "3"),
    ];
    let set = |builder: ConfigBuilder, (path, value)| builder.set(path, value);
    let builder = in_code.into_iter().fold(Config::builder().env(false), set);
    assert_eq!(of_store(&builder.load().unwrap()), expected);
}

#[test]
fn the_environment_sets_and_declares_the_store() {
    let vars = [
        ("RESILIENCE_REDIS_URL", "redis://env"),
        ("RESILIENCE_REDIS_NAMESPACE", "shop"),
        ("RESILIENCE_REDIS_DECISIONTIMEOUT", "5ms"),
    ];
    let expected =
        ["redis.urls = redis://env", "redis.namespace = shop", "redis.decision_timeout = 5ms"];
    assert_eq!(of_store(&Config::builder().vars(vars).load().unwrap()), expected);
    let over = Config::builder().text(GLOBAL, Format::Yaml).vars(vars).load().unwrap();
    assert_eq!(of_store(&over), expected);
    let origin = over.effective().into_iter().find(|(path, ..)| path == "redis.urls").unwrap().2;
    assert_eq!(origin, Origin::Environment("RESILIENCE_REDIS_URL".into()));
}

#[test]
fn two_variables_for_the_address_are_one_too_many() {
    let vars = [("RESILIENCE_REDIS_URL", "redis://a"), ("RESILIENCE_REDIS_URLS", "redis://b")];
    let error = refused(Config::builder().text(GLOBAL, Format::Yaml).vars(vars));
    let expected = "environment RESILIENCE_REDIS_URLS: it sets the same as RESILIENCE_REDIS_URL; \
                    keep one";
    assert_eq!(error, expected);
}

#[test]
fn a_variable_that_sets_nothing_is_told_the_nearest() {
    let vars = [("RESILIENCE_REDIS_DECISION_TIMOUT", "5ms")];
    let config = Config::builder().vars(vars).load().unwrap();
    let expected = "environment RESILIENCE_REDIS_DECISION_TIMOUT sets nothing: `redis` has no such \
                    key; did you mean DECISION_TIMEOUT?";
    assert_eq!(config.warnings(), [expected]);
}

#[test]
fn placeholders_are_replaced_in_an_address() {
    let text = "redis: { url: 'redis://:${PASS}@${HOST:cache}', namespace: shop }";
    let builder = Config::builder().text(text, Format::Yaml).vars([("PASS", "sesame")]);
    assert_eq!(of_store(&builder.load().unwrap())[0], "redis.urls = redis://***@cache");
}

#[test]
fn the_namespace_is_the_applications_name_unless_it_is_written() {
    let spring = "spring.application.name: shop\nredis.url: redis://a";
    let namespace = |config: Config| {
        let all = config.effective().into_iter();
        all.map(|(path, value, _)| format!("{path} {value}"))
            .find(|line| line.starts_with("redis.namespace"))
    };
    let config = yaml(spring).load().unwrap();
    assert_eq!(namespace(config).as_deref(), Some("redis.namespace shop"));
    let config = yaml(spring).set("redis.namespace", "eu").load().unwrap();
    assert_eq!(namespace(config).as_deref(), Some("redis.namespace eu"));

    let error = refused(yaml("\nredis:\n  url: redis://a"));
    assert!(error.starts_with("<text>:3: redis.namespace: there is none, and no name"), "{error}");
    let error = refused(yaml("redis.url: redis://a").application("the shop"));
    assert!(error.contains("the name of the application, `the shop`, cannot be it"), "{error}");
}

#[test]
fn everything_that_is_wrong_is_told_at_once_with_its_line() {
    let error = refused(yaml(
        "
redis:
  urls: [http://cache]
  namespace: a shop
  decision_timeout: 0
  connect_timeout: 61s
  nodes: 0
  cluster: perhaps
  nodse: 2
",
    ));
    for problem in [
        "<text>:3: redis.urls: expected 1 to 100 addresses redis://",
        "<text>:4: redis.namespace = a shop: expected 1 to 100 letters of ASCII, digits",
        "<text>:5: redis.decision_timeout = 0: expected a duration from 1ms to 10s",
        "<text>:6: redis.connect_timeout = 61s: expected a duration from 10ms to 1m",
        "<text>:7: redis.nodes = 0: expected a whole number from 1 to 100000",
        "<text>:8: redis.cluster = perhaps: expected true or false",
        "<text>:9: redis.nodse: unknown key; did you mean `nodes`?",
    ] {
        assert!(error.contains(problem), "{problem}\n{error}");
    }
    assert!(error.starts_with("7 problems"), "{error}");
}

#[test]
fn one_key_in_two_spellings_is_refused_as_anywhere_else() {
    let error = refused(yaml("redis:\n  url: redis://a\n  urls: redis://b\n  namespace: x"));
    let expected = "one key in two spellings, `url` (first in line 2) and `urls`; keep one";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_section_without_an_address_is_refused_where_it_begins() {
    let error = refused(yaml("\nredis:\n  namespace: shop"));
    assert!(error.starts_with("<text>:3: redis.url: there is no address; write `url: "), "{error}");
}

#[test]
fn several_addresses_without_a_cluster_are_a_contradiction() {
    let error =
        refused(yaml("redis: { urls: [redis://a, redis://b], namespace: x,\n  cluster: false }"));
    assert!(error.starts_with("<text>:2: redis.cluster: several addresses are those"), "{error}");
}

#[test]
fn a_password_is_shown_nowhere() {
    for text in [
        "redis: { url: 'redis:/:sesame@cache', namespace: x }",
        "redis: { url: 'redis://:sesame@${HOST}', namespace: x }",
        "redis: { url: 'http://:sesame@${HOST:cache}', namespace: x }",
        "redis: { urls: ['redis://a', 'http://:sesame@cache'], namespace: x }",
        "redis: { url: { 'redis://:sesame@cache': 1 }, namespace: x }",
        "redis: { password: sesame, url: redis://a, namespace: x }",
        "redis: 'redis://:sesame@cache'",
        "redis: { url: 'redis://:sesame@cache', urls: 'redis://:sesame@cache' }",
    ] {
        let error = yaml(text).load().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("sesame"), "{text}\n{error}");
    }
    let vars = [("RESILIENCE_REDIS_URL", "//:sesame@cache")];
    let error: ConfigError = Config::builder().vars(vars).load().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("sesame"), "{error}");

    let config = yaml(GLOBAL).load().unwrap();
    let shown = format!("{config:?} {:?}", config.effective());
    assert!(!shown.contains("sesame"), "{shown}");
    assert_eq!(of_store(&config)[0], "redis.urls = redis://***@cache:6379");
}

#[test]
fn a_global_scope_without_a_store_is_refused_where_it_is_written() {
    let text = GLOBAL.replace("redis:", "spring.data.redis:");
    let error = refused(yaml(&text));
    let expected = "<text>:4: ratelimiter.instances.orders.scope = global: there is no section \
                    `redis`";
    assert!(error.starts_with(expected), "{error}");

    let inherited = "
ratelimiter:
  configs:
    default:
      scope: global
      on_store_failure: open
      limit_refresh_period: 1s
  instances: { a: {}, b: {} }
";
    let error = refused(yaml(inherited));
    let expected = "<text>:5: ratelimiter.configs.default.scope = global: there is no section";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn every_contradiction_of_an_instance_is_told() {
    let error = refused(yaml(
        "ratelimiter.instances.orders: { scope: global, lease: 60, limit_refresh_period: 1s }",
    ));
    for key in ["on_store_failure", "lease", "scope"] {
        assert!(error.contains(&format!("ratelimiter.instances.orders.{key}")), "{error}");
    }
}

#[test]
fn another_programs_redis_beside_a_root_is_left_alone() {
    let text = "
redis: { host: cache, password: 7 }
spring.data.redis.url: redis://a
resilience.retry.instances.a: {}
";
    let config = yaml(text).load().unwrap();
    assert_eq!(of_store(&config), [""; 0]);
    assert_eq!(config.warnings(), [""; 0]);
}
