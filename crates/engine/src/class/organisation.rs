//! Organisations with known truth: hundreds of machines of every class, named and tagged at times, wrongly at times, with
//! noise in all they do. The truth is what they do; words are only what somebody once wrote.

use lowwater_model::charge::{PricingCategory, Spread};
use lowwater_model::clue::Clues;
use lowwater_model::facts::{CostLine, CostRun, Facts, LineKind, Resource};
use lowwater_model::job::{ExitState, JobRun};
use lowwater_model::money::Money;
use lowwater_model::period::Hour;
use lowwater_model::usage::{HourUsage, Usage};
use lowwater_model::workload::{Class, Role};

use crate::sample;

mod activity;

const DAYS: i64 = 42;
const HOURS: i64 = DAYS * 24;

/// What a machine is in truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Truth {
    pub(super) class: Class,
    pub(super) role: Role,
}

impl Truth {
    pub(super) fn may_be_interrupted(self) -> bool {
        self.class != Class::RealtimeInference && self.role == Role::Primary
    }
}

/// Numbers that look random and are the same for a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn chance(&mut self, chance: f64) -> bool {
        self.share() < chance
    }

    fn within(&mut self, from: i64, to: i64) -> i64 {
        from + (self.next() % (to - from).max(1) as u64) as i64
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.within(0, of.len() as i64) as usize]
    }
}

/// Machines of each class in a hundred.
const MIX: &[(Class, i64)] = &[
    (Class::Training, 18),
    (Class::FineTuning, 10),
    (Class::RealtimeInference, 26),
    (Class::BatchInference, 12),
    (Class::Development, 18),
    (Class::Ci, 8),
    (Class::Experiment, 8),
];

/// Words for each class: those of the vocabulary, and some that are not in it.
fn word(class: Class, dice: &mut Dice) -> &'static str {
    dice.pick(match class {
        Class::Training => &[
            "train",
            "pretrain",
            "llm-training",
            "ddp",
            "megatron",
            "foundation",
            "bigrun",
        ],
        Class::FineTuning => &["finetune", "fine-tune", "lora", "sft", "adapters", "tuning"],
        Class::RealtimeInference => &[
            "vllm",
            "triton",
            "serving",
            "api",
            "chat",
            "endpoint",
            "kserve",
            "answers",
            "copilot",
            "inference",
        ],
        Class::BatchInference => &[
            "batch-inference",
            "scoring",
            "nightly",
            "embeddings",
            "backfill",
            "enrich",
        ],
        Class::Development => &[
            "nb",
            "notebook",
            "jupyter",
            "devbox",
            "workstation",
            "workspace",
            "alice",
            "team-box",
        ],
        Class::Ci => &["ci-runner", "runner", "buildkite", "e2e", "gitlab", "checks"],
        Class::Experiment => &["exp", "sweep", "hpo", "ablation", "poc", "ideas"],
        Class::Unknown => &["gpu"],
    })
}

/// The class itself, or another one where somebody reused a machine and left its name and tags.
fn words_of(truth: Class, dice: &mut Dice) -> Class {
    if dice.chance(0.1) { dice.pick(Class::ALL) } else { truth }
}

fn name_and_clues(truth: Truth, number: usize, dice: &mut Dice) -> (Option<String>, Clues) {
    let said = words_of(truth.class, dice);
    let mut clues = Clues::default();
    let name = dice.chance(0.55).then(|| {
        let plain = dice.chance(0.4);
        if plain {
            format!("ip-10-0-3-{number}")
        } else {
            format!("{}-{number}", word(said, dice))
        }
    });
    if dice.chance(0.4) {
        let key = dice.pick(&["purpose", "app", "workload", "component", "app.kubernetes.io/name"]);
        // Mostly the one who named it also wrote the tag.
        let tagged = if dice.chance(0.9) {
            said
        } else {
            words_of(truth.class, dice)
        };
        clues.tags.insert(key.into(), word(tagged, dice).into());
    }
    if dice.chance(0.5) {
        clues.tags.insert(
            "team".into(),
            dice.pick(&["vision", "speech", "search", "product"]).into(),
        );
    }
    if dice.chance(0.15) {
        let usage = match truth.class {
            Class::Training | Class::FineTuning | Class::Experiment => "USE1-Train:ml.g5",
            Class::RealtimeInference => "USE1-Host:ml.g5",
            Class::BatchInference => "USE1-Tsform:ml.g5 transform",
            _ => "USE1-Notebk:ml.g5 notebook",
        };
        clues.service = Some("Amazon SageMaker".into());
        clues.usage_types.insert(usage.into());
    }
    if truth.class == Class::RealtimeInference {
        if dice.chance(0.3) {
            clues.traffic_from.insert("alb-1".into());
        }
        if dice.chance(0.3) {
            clues.tags.insert("stage".into(), "prod".into());
        }
    }
    let name = match (truth.role, name) {
        (Role::Standby, Some(name)) if dice.chance(0.6) => Some(format!("{name}-standby")),
        (Role::Primary, Some(name)) if dice.chance(0.06) => Some(format!("{name}-dev")),
        (_, name) => name,
    };
    (name, clues)
}

fn usage(start: i64, activity: &[Option<f64>], dice: &mut Dice) -> Usage {
    let mut usage = Usage::default();
    let is_measured = dice.chance(0.85);
    for (at, level) in activity.iter().enumerate().filter(|_| is_measured) {
        let Some(level) = level.filter(|_| !dice.chance(0.01)) else {
            continue;
        };
        let seen = HourUsage {
            gpus: 1,
            observed_minutes: 60,
            idle: level == 0.0,
            activity_max_bin: if level == 0.0 { 0 } else { 12 },
            activity_permille: level as u16,
            memory_max_bin: Some(0),
            power_max_w: Some(30),
        };
        usage.push(Hour(start + at as i64), seen);
    }
    usage
}

fn lines(start: i64, activity: &[Option<f64>]) -> Vec<CostLine> {
    let mut runs: Vec<CostRun> = Vec::new();
    for (at, _) in activity.iter().enumerate().filter(|(_, level)| level.is_some()) {
        let hour = Hour(start + at as i64);
        match runs.last_mut() {
            Some(last) if last.end() == hour => last.hours += 1,
            _ => runs.push(CostRun {
                start: hour,
                hours: 1,
                cost: Money::whole(2),
                seconds: 3600,
            }),
        }
    }
    vec![CostLine {
        kind: LineKind::Compute,
        pricing: PricingCategory::Standard,
        commitment: None,
        spread: Spread::Hourly,
        runs,
    }]
}

/// Jobs that a scheduler ran in the busy stretches.
fn jobs(id: &str, truth: Truth, resource: &Resource, dice: &mut Dice) -> Vec<JobRun> {
    let is_job = matches!(
        truth.class,
        Class::Training | Class::FineTuning | Class::Experiment | Class::BatchInference
    );
    if !is_job || !dice.chance(0.3) {
        return Vec::new();
    }
    let busy: Vec<Hour> = resource
        .usage
        .iter()
        .filter(|(_, seen)| !seen.idle)
        .map(|(hour, _)| hour)
        .collect();
    let stretches = busy.chunk_by(|a, b| b.0 == a.0 + 1);
    let saves = matches!(truth.class, Class::Training | Class::FineTuning) && dice.chance(0.6);
    stretches
        .enumerate()
        .map(|(number, hours)| JobRun {
            job: format!("{id}-{number}"),
            workload: None,
            submitted: None,
            start: Some(hours[0].period().start),
            end: Some(hours[hours.len() - 1].period().end),
            sku: None,
            count: None,
            gpus: Some(1.0),
            region: None,
            market: None,
            exit: if dice.chance(0.1) {
                ExitState::Preempted
            } else {
                ExitState::Completed
            },
            checkpoints: saves.then_some(hours.len() as u32),
            last_checkpoint: None,
            restarts: None,
            nodes: vec![],
        })
        .collect()
}

fn truth(dice: &mut Dice) -> Truth {
    let mut left = dice.within(0, 100);
    let class = MIX.iter().find(|(_, count)| {
        left -= count;
        left < 0
    });
    let class = class.map_or(Class::Training, |(class, _)| *class);
    let waits = class == Class::RealtimeInference && dice.chance(0.15);
    let role = if waits { Role::Standby } else { Role::Primary };
    Truth { class, role }
}

/// So many undeclared machines, and what each is in truth.
pub(super) fn of(seed: u64, count: usize) -> (Facts, Vec<Truth>) {
    let mut dice = Dice(seed);
    let mut facts = sample::facts(&format!(
        "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = {DAYS}\nreplay_days = 28\n[[resource]]\nid = \"a\""
    ));
    let plain = facts.resources.remove(0);
    let start = facts.history.hour_range().start;
    let mut truths = Vec::new();
    for number in 0..count {
        let truth = truth(&mut dice);
        let id = format!("i-{number:04}");
        let (name, clues) = name_and_clues(truth, number, &mut dice);
        let activity = activity::of(truth, &mut dice);
        let mut resource = Resource {
            id: id.as_str().into(),
            name,
            clues,
            lines: lines(start, &activity),
            usage: usage(start, &activity, &mut dice),
            ..plain.clone()
        };
        let runs = jobs(&id, truth, &resource, &mut dice);
        resource.clues.jobs = runs.iter().map(|run| run.job.clone()).collect();
        facts.jobs.extend(runs);
        facts.resources.push(resource);
        truths.push(truth);
    }
    (facts, truths)
}
