//! Who wins, by the table in `golden/inheritance.md`. The arguments of an attribute are there when the
//! program is compiled: each kind in the table has a function here.

use resilience::{
    Error, Resilience,
    config::{Config, Format, Origin},
    retry,
};
use resilience_tests::golden::rows;

#[retry(name = "bare")]
async fn bare() -> Result<(), Error> {
    Ok(())
}

#[retry(name = "valued", max_attempts = 13)]
async fn valued() -> Result<(), Error> {
    Ok(())
}

#[retry(name = "based", base_config = "slow")]
async fn based() -> Result<(), Error> {
    Ok(())
}

/// The instance of the function whose attribute has these arguments beside the name.
fn instance_of(arguments: &str) -> &'static str {
    match arguments {
        "" => "bare",
        "max_attempts = 13" => "valued",
        r#"base_config = "slow""# => "based",
        other => panic!("no function has `{other}`"),
    }
}

/// A file with these configs and this instance, if it is declared.
fn file(configs: &str, name: &str, instance: &str) -> String {
    // `based` is in every program here, and its base has to be there.
    let slow = if configs.contains("slow:") { "" } else { "slow: {}" };
    let configs = [configs, slow].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    let instances = match instance {
        "undeclared" => String::new(),
        values => format!("{name}: {{ {values} }}"),
    };
    format!("retry: {{ configs: {{ {} }}, instances: {{ {instances} }} }}", configs.join(", "))
}

/// Where a value comes from, in the words of the table.
fn words(origin: &Origin) -> String {
    match origin {
        Origin::Default => "built in".into(),
        Origin::Attribute(_) => "attribute".into(),
        Origin::Environment(_) => "environment".into(),
        Origin::File { entry, .. } => {
            let entry = entry.trim_start_matches("retry.");
            if entry.starts_with("instances.") { "instances".into() } else { entry.into() }
        }
        other => panic!("{other} is not in the table"),
    }
}

#[test]
fn who_wins_is_what_the_table_says() {
    for row in rows(include_str!("../golden/inheritance.md")) {
        let [configs, instance, variable, attribute, key, value, from] = &row;
        let name = instance_of(attribute);
        let mut builder = Config::builder().env(false);
        if let Some((variable, value)) = variable.split_once('=') {
            let variable = variable.replace("{}", &name.to_uppercase());
            builder = Config::builder().vars([(format!("RESILIENCE_RETRY_{variable}"), value)]);
        }
        let config = builder.text(file(configs, name, instance), Format::Yaml).load();
        let config = config.unwrap_or_else(|error| panic!("{row:?}: {error}"));
        let registry = Resilience::from_config(config);
        let registry = registry.unwrap_or_else(|error| panic!("{row:?}: {error}"));
        registry.retry(name);

        let path = format!("retry.instances.{name}.{key}");
        let effective = registry.effective_config();
        let found = effective.iter().find(|(known, ..)| *known == path);
        let found = found.map(|(_, value, origin)| (value.to_string(), words(origin)));
        assert_eq!(found, Some((value.clone(), from.clone())), "{row:?}");
    }
}
