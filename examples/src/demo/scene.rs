use std::pin::Pin;

use super::{DemoError, report::SceneReport, scenes, stage::Stage};

type Running<'a> = Pin<Box<dyn Future<Output = Result<(), DemoError>> + Send + 'a>>;

/// One scripted scene.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) number: u8,
    pub(super) title: &'static str,
    pub(super) run: for<'a> fn(&'a Stage, &'a mut SceneReport) -> Running<'a>,
}

/// Every scene, in the order in which they run.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        number: 1,
        title: "all is well",
        run: |stage, report| Box::pin(scenes::all_well::run(stage, report)),
    },
    Scene {
        number: 2,
        title: "the payment provider takes 5 s",
        run: |stage, report| Box::pin(scenes::slow_provider::run(stage, report)),
    },
    Scene {
        number: 3,
        title: "it recovers",
        run: |stage, report| Box::pin(scenes::recovery::run(stage, report)),
    },
    Scene {
        number: 4,
        title: "the inventory hangs",
        run: |stage, report| Box::pin(scenes::hung_inventory::run(stage, report)),
    },
    Scene {
        number: 5,
        title: "a rush of orders",
        run: |stage, report| Box::pin(scenes::rush::run(stage, report)),
    },
    Scene {
        number: 6,
        title: "the account service is down",
        run: |stage, report| Box::pin(scenes::account_down::run(stage, report)),
    },
    Scene {
        number: 7,
        title: "clients hang up mid-request",
        run: |stage, report| Box::pin(scenes::hang_up::run(stage, report)),
    },
    Scene {
        number: 8,
        title: "three order processes share a limit, and Redis fails",
        run: |stage, report| Box::pin(scenes::shared_limit::run(stage, report)),
    },
];
