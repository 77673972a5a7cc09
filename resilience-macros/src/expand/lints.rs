use proc_macro2::TokenStream;
use quote::quote;

/// Silences lints about a statement that passes one of the user's arguments on: its name is the
/// user's, so clippy takes the statement for the user's too.
pub(super) fn lints() -> TokenStream {
    quote! {
        #[allow(
            clippy::shadow_reuse,
            clippy::shadow_same,
            clippy::shadow_unrelated,
            clippy::used_underscore_binding
        )]
    }
}
