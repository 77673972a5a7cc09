//! A change of a file that declares instances compiles what was checked against it anew.

mod support;

use std::fs;

use support::{METADATA, Package};

const PAY: &str = "
#[resilience::retry(name = \"payment\")]
pub async fn pay() -> Result<u32, resilience::Error> {
    Ok(1)
}
";

const DECLARED: &str = "retry.instances.payment: {}\n";
const RENAMED: &str = "retry.instances.payments: {}\n";

#[test]
fn an_error_comes_and_goes_with_a_change_of_the_file_alone() {
    let package = Package::new("file-changes", METADATA);
    package.write("src/lib.rs", PAY);
    package.write("resilience.yaml", DECLARED);
    assert!(package.check().is_empty());
    package.write("resilience.yaml", RENAMED);
    let mistakes = package.check();
    assert_eq!(mistakes[0].wrong, "\"payment\"");
    assert!(mistakes[0].message.contains("did you mean `payments`?"), "{}", mistakes[0].message);
    package.write("resilience.yaml", DECLARED);
    assert!(package.check().is_empty());
}

#[test]
fn an_error_comes_with_a_change_of_the_manifest_alone() {
    let package = Package::new("manifest-changes", "");
    package.write("src/lib.rs", PAY);
    package.write("resilience.yaml", RENAMED);
    assert!(package.check().is_empty(), "the manifest names no file");
    package.write_manifest(METADATA);
    assert_eq!(package.check().len(), 1);
    package.write_manifest("");
    assert!(package.check().is_empty());
}

#[test]
fn a_file_that_an_attribute_names_is_watched_too() {
    let package = Package::new("own-file-changes", "");
    package.write("src/lib.rs", &PAY.replace("name =", "config = \"conf/own.yaml\", name ="));
    package.write("conf/own.yaml", DECLARED);
    assert!(package.check().is_empty());
    package.write("conf/own.yaml", RENAMED);
    assert_eq!(package.check().len(), 1);
}

#[test]
fn an_error_comes_with_the_file_s_deletion_and_goes_with_its_return() {
    let package = Package::new("file-goes", METADATA);
    package.write("src/lib.rs", PAY);
    package.write("resilience.yaml", DECLARED);
    assert!(package.check().is_empty());
    fs::remove_file(package.path("resilience.yaml")).expect("the file");
    let mistakes = package.check();
    assert!(mistakes[0].message.contains("cannot read the file"), "{}", mistakes[0].message);
    package.write("resilience.yaml", DECLARED);
    assert!(package.check().is_empty());
}
