//! Serving that somebody waits for, on machines that go away faster than others come.

use super::{Kind, Mistake, Scene, cost, fleets, is_class, is_spot, place};
use lowwater_model::cloud::notice_seconds;
use lowwater_model::workload::Class;

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "serving_on_spot",
    title: "latency-bound serving on spot",
    doc: "Real-time inference on interruptible machines whose notice is shorter than draining, booting and loading the model take: requests fail \
          meanwhile. Cost: its spot hours.",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let facts = scene.facts;
    let settings = scene.policy.section("check");
    let [drain, boot, load] = ["drain_seconds", "boot_seconds", "model_load_seconds"].map(|key| settings.float(key));
    let serving = facts.resources.iter().filter(|r| is_class(r, &[Class::RealtimeInference]));
    let mut out = Vec::new();
    for (name, resources) in fleets(serving) {
        let spot = cost(&resources, facts.period, is_spot);
        let notice = notice_seconds(&resources[0].cloud);
        // A cloud whose notice nobody knows gives none to count on.
        let gap = drain + boot + load - notice.unwrap_or(0.0);
        if spot.is_zero() || gap <= 0.0 {
            continue;
        }
        let told = notice.map_or_else(|| "an unknown notice".to_owned(), |s| format!("{s:.0} s of notice"));
        out.push(Mistake {
            id: KIND.id,
            cost: Some(spot),
            place: place(&name, &resources),
            why: format!(
                "somebody waits for it, and it runs on spot: {told} against {:.0} s to drain, boot and load, so each eviction leaves {gap:.0} s without it",
                drain + boot + load
            ),
            hint: "keep the baseline on demand or committed, and put only what is above it on spot; or say in [check] what the seconds really are".into(),
        });
    }
    out
}
