use resilience_settings::schema;

use crate::{Loaded, Problem, Settings, address::STORE};

/// The key that says whose an instance's limit or state is, whatever its pattern.
const SCOPE: &str = "scope";

impl Settings {
    /// Whether these are of an instance that shares its limit or state with those of other processes.
    pub fn is_global(&self) -> bool {
        self.pattern().key(SCOPE).is_some() && self.optional_word(SCOPE) == Some("global")
    }
}

/// What to say of an instance that is to share something, where there is no store.
pub fn without_store(settings: &Settings) -> Option<Problem> {
    settings.is_global().then(|| {
        let message = "there is no section `redis`, in which the address of the shared store stands; \
                       write `redis: { url: 'redis://127.0.0.1:6379', namespace: shop }`, or \
                       `scope: local`";
        Problem::new(message).path(SCOPE).value("global")
    })
}

impl Loaded {
    /// What is wrong with the section `redis` as a whole.
    pub(crate) fn check_store(&self) -> Vec<Problem> {
        let (Some(settings), Some(section)) = (self.store(), self.tree().store.as_ref()) else {
            return Vec::new();
        };
        let mut problems = Vec::new();
        let mut refuse = |key: &str, message: String| {
            let place = settings.place(key).unwrap_or_else(|| section.spot.place.clone());
            problems.push(Problem::new(message).path(format!("{STORE}.{key}")).place(place));
        };
        if settings.urls().is_empty() {
            let message = "there is no address; write `url: redis://127.0.0.1:6379`, or set \
                           RESILIENCE_REDIS_URL";
            refuse("url", message.to_owned());
        }
        if settings.cluster() == Some(false) && settings.urls().len() > 1 {
            let message = "several addresses are those of a cluster; keep one of them, or leave \
                           `cluster` out";
            refuse("cluster", message.to_owned());
        }
        if let Some(message) = self.wrong_namespace(settings.namespace()) {
            refuse("namespace", message);
        }
        problems
    }

    /// What is wrong with the namespace, which may be the name of the application.
    fn wrong_namespace(&self, namespace: &str) -> Option<String> {
        let ty = schema::REDIS.iter().find(|key| key.name == "namespace")?.ty;
        let Err(error) = ty.parse(namespace) else { return None };
        let allowed = error.allowed();
        Some(match self.application() {
            None => format!(
                "there is none, and no name of the application that would be it; write {allowed}, \
                 such as `namespace: shop`"
            ),
            Some(name) => format!(
                "there is none, and the name of the application, `{name}`, cannot be it; write \
                 {allowed}"
            ),
        })
    }
}
