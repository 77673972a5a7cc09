use std::fmt::Display;

/// What can be a key: everything that shows itself as text, which is what tells keys apart.
///
/// It is implemented for every [`Display`] and for nothing else.
///
/// # Examples
///
/// ```
/// fn is_a_key(_: &(impl resilience::keyed::Key + ?Sized)) {}
///
/// is_a_key("eu-1");
/// is_a_key(&7);
/// is_a_key(&format_args!("{}/{}", "tenant", 7));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key: it shows no text that would tell it from others",
    label = "this needs to implement `std::fmt::Display`",
    note = "use a part that does, such as `key = order.id`, or several: \
            `key = format_args!(\"{{}}/{{}}\", tenant, user)`"
)]
pub trait Key: Display {}

#[diagnostic::do_not_recommend]
impl<K: Display + ?Sized> Key for K {}

/// A key behind a pointer, for code that is the same for all keys. A `str` has no size, which is why
/// the reference is taken by reference.
#[doc(hidden)]
pub fn as_display<'a, K: Key + ?Sized>(key: &'a &'a K) -> &'a dyn Display {
    key
}
