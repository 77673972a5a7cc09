//! What the attributes accept, and what they say about mistakes.

#[test]
fn h04_i08_l02_l08_mistakes_are_reported_where_they_are_made_and_every_function_form_compiles() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*/fail/*.rs");
    cases.pass("ui/*/pass/*.rs");
}
