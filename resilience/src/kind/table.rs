/// A function from values to kinds, and the constant `DECLARED` of all kinds that it may give.
macro_rules! table {
    (
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident($value:ident: $type:ty) {
            $($pattern:pat => [$($kind:expr),*]),+ $(,)?
        }
    ) => {
        $(#[$doc])*
        $visibility fn $name($value: $type) -> &'static [&'static str] {
            match $value {
                $($pattern => &[$($kind),*],)+
            }
        }

        pub(super) const DECLARED: &[&[&str]] = &[$(&[$($kind),*]),+];
    };
}

pub(super) use table;
