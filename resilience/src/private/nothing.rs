/// A trait that no type has, for a second blanket implementation beside one for functions: where
/// there is but one, the compiler follows it and reports that a function has another signature, not
/// that the trait with its message is missing.
pub trait Nothing {
    /// Is never called.
    fn never<T>(self) -> T;
}
