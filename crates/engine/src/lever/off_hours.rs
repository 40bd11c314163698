//! Development machines that run while their people sleep.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::id::{CalendarName, Sku, Team, WorkloadName};
use lowwater_model::period::{HOUR_SECONDS, Hour, Period};
use lowwater_model::plan::{Phase, Verdict};
use lowwater_model::policy::KeyDefault::{Bool, Float, Int, List, Text};
use lowwater_model::policy::{Policy, Section, Settings, key};
use lowwater_model::workload::Class;

use super::{Lever, LeverMeta, Refusal, Refused, evidence, merged, owner, target_of};
use crate::replay::{Replay, billed};

mod fleet;
mod profile;
#[cfg(test)]
mod published;

use fleet::Fleet;

/// See the module.
pub const META: LeverMeta = LeverMeta {
    name: "off_hours",
    title: "Run development machines in working hours only",
    doc: "A fleet is the GPU resources of one workload with class `development`, declared or guessed beyond the policy's \
          doubt, and one time zone. Its use over the \
          history is laid on the 168 hours of its owner's week; an hour of the week is needed when more than a share \
          of its observed resource-hours is active. The schedule has one window a day, from the first to the last \
          needed hour and a margin; on holidays of the owner's calendar no window begins. Windows are civil time, so \
          a weekend off has 62, 63 or 64 hours, whichever the clocks make of it.\n\n\
          Replay removes only hours outside the windows that were seen to be idle. An hour in which somebody worked \
          at night stays, as if the machine had been woken by hand, and so does an hour that nobody measured.\n\n\
          Refused: machines without metrics or with too few, less than two weeks of history, use at times that no week \
          foretells (of the fleet or of one machine in it), costs that are spread \
          evenly, use around the clock, and GPUs that are hard to get back, unless capacity is reserved or the owner \
          accepts the risk, which is then priced into the saving. `never`, `keep`, standby and criticality are \
          respected. A stop empties instance stores: where a type has one, or that is not known, the step waits until \
          its owner has said that the data is safe.",
    phase: Phase::StopWaste,
    section: Section {
        name: "off_hours",
        keys: &[
            key(
                "needed_share",
                Float(0.1),
                "Share of active resource-hours above which an hour of the week is needed. A tenth: one late evening in a quarter does not keep a fleet on.",
            ),
            key(
                "margin_hours",
                Int(1),
                "Hours that the window opens before the first and closes after the last needed hour of a day. One: people differ, and machines take minutes to start.",
            ),
            key(
                "min_history_days",
                Int(14),
                "Days of metrics without which no schedule is made. Two weeks: each weekday at least twice.",
            ),
            key(
                "min_covered_share",
                Float(0.95),
                "Share of the active hours of the history that the windows must hold. Nineteen of twenty: who works at other times now and then wakes a machine by hand; what is used in campaigns, on days that no week foretells, has no working hours.",
            ),
            key(
                "min_member_covered_share",
                Float(0.75),
                "Share of its own active hours that the windows must hold for one machine of a fleet. Three of four: one that works at other times than its fleet is left out of the schedule, however large the fleet; looser than for the fleet, since a little-used machine has few hours to judge by.",
            ),
            key(
                "min_observed_share",
                Float(0.8),
                "Share of a machine's billed hours since its first metrics that must be observed. Below four fifths its working hours could be the missing ones.",
            ),
            key(
                "scarce",
                List(&["A100-40", "A100-80", "H100", "H200", "B200", "B300", "GB200"]),
                "Accelerators that may not be there when a stopped machine is started again. A machine of unknown type counts as scarce.",
            ),
            key(
                "reserved_capacity",
                List(&[]),
                "Workloads, resource ids, instance types or accelerators for which capacity is reserved, so that a start can't fail for lack of it.",
            ),
            key(
                "allow_scarce",
                Bool(false),
                "Schedule scarce machines too, with the expected cost of failed starts taken off the saving. Off: the price of a lost morning is the owner's to judge.",
            ),
            key(
                "start_failure_chance",
                Float(0.1),
                "Chance that a scarce machine does not start for lack of capacity. An assumption, not a measurement: put your own count here.",
            ),
            key(
                "start_wait_hours",
                Float(4.0),
                "Hours until such a machine starts after all. An assumption: half a working day.",
            ),
            key(
                "max_criticality",
                Text("medium"),
                "Gravest criticality that may be scheduled: `low`, `medium`, `high` or `critical`.",
            ),
        ],
    },
    changes: &["set_schedule"],
};

/// Words in `never` that forbid a step of this lever: a schedule stops machines, so `stop` does too.
const FORBIDDING: &[&str] = &["set_schedule", "stop"];

/// A machine that was not billed in the last week of the history is gone.
const RECENT_SECONDS: i64 = 7 * 24 * HOUR_SECONDS;

/// See [`META`].
#[derive(Debug)]
pub struct OffHours;

impl Lever for OffHours {
    fn meta(&self) -> &'static LeverMeta {
        &META
    }

    fn find(&self, so_far: &Replay<'_>, policy: &Policy) -> Vec<Verdict> {
        let facts = so_far.facts();
        let mut fleets: BTreeMap<FleetKey, Vec<Member<'_>>> = BTreeMap::new();
        let mut declined = Vec::new();
        for resource in facts.resources.iter().filter(|r| r.gpus > 0.0 && is_alive(so_far, r)) {
            let settings = settings_of(policy, resource);
            let guessed = match owner::standing(facts, policy, resource) {
                Ok(standing) if standing.class != Class::Development => continue,
                Ok(standing) => member_refusal(facts, policy, resource, &settings).map_or(Ok(standing.guessed), Err),
                Err(refusal) => Err(refusal),
            };
            match guessed {
                Err(refusal) => declined.push(refused(resource, refusal)),
                Ok(guessed) => fleets
                    .entry(FleetKey::of(resource, &settings, guessed.is_some()))
                    .or_default()
                    .push(Member { resource, guessed }),
            }
        }
        let keys: Vec<FleetKey> = fleets.keys().cloned().collect();
        let mut verdicts = Vec::new();
        for (key, members) in fleets {
            let (of_fleet, apart) = Fleet::new(so_far, policy, key.name_among(&keys), key, members).verdicts();
            verdicts.push(of_fleet);
            declined.extend(apart);
        }
        verdicts.extend(merged(declined).into_iter().map(Verdict::Declined));
        verdicts
    }
}

/// A machine of a fleet, with the guess of its class where nobody declared it.
#[derive(Clone)]
struct Member<'a> {
    resource: &'a Resource,
    guessed: Option<String>,
}

/// What makes machines one fleet: the same people, the same hours, the same rules.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FleetKey {
    workload: Option<WorkloadName>,
    team: Option<Team>,
    environment: Option<String>,
    zone: String,
    holidays: Option<CalendarName>,
    scarce: bool,
    /// Declared machines are not mixed with guessed ones.
    guessed: bool,
}

impl FleetKey {
    fn of(resource: &Resource, settings: &Settings, guessed: bool) -> Self {
        let owner = &resource.owner;
        Self {
            workload: owner.workload.clone(),
            team: owner.team.clone(),
            environment: owner.environment.clone(),
            zone: owner.zone.clone(),
            holidays: owner.holidays.clone(),
            scarce: is_scarce(resource, settings),
            guessed,
        }
    }

    /// The workload, or what else the machines have in common.
    fn name(&self) -> WorkloadName {
        self.workload.clone().unwrap_or_else(|| {
            let what = if self.guessed { "undeclared development" } else { "development" };
            match &self.team {
                Some(team) => format!("{what} of team {team}").into(),
                None => what.into(),
            }
        })
    }
}

impl FleetKey {
    /// Its name, with what tells it from other fleets of that name and zone; the zone itself stands in the schedule.
    fn name_among(&self, all: &[Self]) -> WorkloadName {
        let twins: Vec<&Self> = all.iter().filter(|k| k.name() == self.name() && k.zone == self.zone && *k != self).collect();
        let differs = |of: fn(&Self) -> Option<&str>| twins.iter().any(|k| of(k) != of(self));
        let mut marks = Vec::new();
        let mut mark = |word: &str, of: fn(&Self) -> Option<&str>| {
            if differs(of) {
                marks.push(of(self).map_or_else(|| format!("no {word}"), |value| format!("{word} {value}")));
            }
        };
        mark("team", |k| k.team.as_ref().map(Team::as_str));
        mark("environment", |k| k.environment.as_deref());
        mark("holidays", |k| k.holidays.as_ref().map(CalendarName::as_str));
        mark("scarce GPUs", |k| k.scarce.then_some("only"));
        if marks.is_empty() {
            return self.name();
        }
        format!("{} ({})", self.name(), marks.join(", ")).into()
    }
}

fn settings_of(policy: &Policy, resource: &Resource) -> Settings {
    policy.lever(
        META.name,
        resource.owner.team.as_ref(),
        resource.owner.environment.as_deref(),
    )
}

/// Was it billed in the last week, and not stopped by an earlier step?
fn is_alive(so_far: &Replay<'_>, resource: &Resource) -> bool {
    let end = so_far.facts().history.end.as_second();
    so_far.remaining(&resource.id).overlap(end - RECENT_SECONDS, end) > 0
}

/// May a stopped machine fail to come back? Not where its owner reserved capacity; yes where its type is not known.
fn is_scarce(resource: &Resource, settings: &Settings) -> bool {
    let accelerator = resource.sku_fact().map(|fact| fact.accelerator.as_str());
    let names = [
        Some(resource.id.as_str()),
        resource.owner.workload.as_ref().map(WorkloadName::as_str),
        resource.sku.value().map(Sku::as_str),
        accelerator,
    ];
    let reserved = settings.list("reserved_capacity");
    let is_reserved = names.into_iter().flatten().any(|name| reserved.contains(&name));
    !is_reserved && accelerator.is_none_or(|name| settings.list("scarce").contains(&name))
}

/// Why a machine can't be in any fleet.
fn member_refusal(facts: &Facts, policy: &Policy, resource: &Resource, settings: &Settings) -> Option<Refusal> {
    owner::refusal(facts, policy, resource, FORBIDDING, settings.text("max_criticality"))
        .or_else(|| (!resource.is_hourly()).then(|| evidence::NEEDS_HOURS.into()))
        .or_else(|| unmeasured(facts, resource, settings))
        .map(Refusal::from)
}

fn unmeasured(facts: &Facts, resource: &Resource, settings: &Settings) -> Option<String> {
    let Some(first) = first_observed(resource, facts.history) else {
        return Some("measure this first: no GPU metrics".into());
    };
    let since = Period {
        start: first.period().start,
        end: facts.history.end,
    };
    let hours = billed(resource, since);
    let observed = since.hour_range().filter(|hour| {
        let start = hour * HOUR_SECONDS;
        is_known(resource, Hour(*hour)) && hours.overlap(start, start + HOUR_SECONDS) > 0
    });
    let share = observed.count() as f64 / hours.hours().max(1.0);
    let limit = settings.float("min_observed_share");
    (share < limit).then(|| {
        format!(
            "measure this first: {:.0} % of its billed hours since {} were observed, the policy wants {:.0} %",
            share * 100.0,
            since.start,
            limit * 100.0
        )
    })
}

/// Seen to be idle or seen to work; anything else was not seen well enough.
fn is_known(resource: &Resource, hour: Hour) -> bool {
    resource
        .usage
        .at(hour)
        .is_some_and(|usage| usage.idle || usage.is_active())
}

fn first_observed(resource: &Resource, history: Period) -> Option<Hour> {
    history.hour_range().map(Hour).find(|hour| is_known(resource, *hour))
}

/// A refusal of one machine.
fn refused(resource: &Resource, refusal: Refusal) -> Refused {
    refusal.by(META.name, target_of(resource), BTreeMap::new())
}

/// The days of the owner's calendar from the history on, or none where it is not known.
fn holidays(facts: &Facts, calendar: Option<&CalendarName>, zone: &TimeZone) -> Option<BTreeSet<Date>> {
    let first = zone.to_datetime(facts.history.start).date();
    let days = facts.calendars.get(calendar?)?;
    Some(days.iter().copied().filter(|day| *day >= first).collect())
}

#[cfg(test)]
mod tests {
    use lowwater_model::plan::Finding;

    use super::*;
    use crate::sample;

    /// Two development machines of one workload, in use on working days from nine to six.
    fn fleet(owner: &str) -> Facts {
        sample::facts(&format!(
            "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 28\nreplay_days = 28\nholidays.X = [\"2025-01-01\", \"2026-10-07\", \"2027-01-01\"]\n\
             [[resource]]\nid = \"m{{}}\"\ncount = 2\nclass = \"development\"\nline = [{{ rate = \"1\" }}]\n{owner}\n\
             use = [{{ idle = true, memory = 0, power = 20 }}, {{ days = [0, 4], hours = [9, 18], memory = 9, power = 200 }}]"
        ))
    }

    fn verdicts(facts: &Facts, policy: &str) -> Vec<Verdict> {
        OffHours.find(&Replay::of(facts), &sample::policy(policy))
    }

    /// The schedule in words and what it needs, or why there is none.
    fn answer(owner: &str, policy: &str) -> Result<String, String> {
        match &verdicts(&fleet(owner), policy)[..] {
            [Verdict::Declined(declined)] => Err(declined.why.clone()),
            [Verdict::Found(Finding { change, .. })] => Ok(change.kind().describe()),
            other => panic!("{other:?}"),
        }
    }

    const SMALL: &str = "sku = \"g6.xlarge\"";

    #[test]
    fn a_fleet_is_named_by_what_its_machines_have_in_common() {
        let name = |owner: &str| answer(&format!("{SMALL}\n{owner}"), "").unwrap();
        assert_eq!(
            name("workload = \"nb\""),
            "Run 2 resources of nb only mon-fri 08:00-19:00 UTC"
        );
        assert!(name("team = \"vision\"").contains("of development of team vision only"));
        assert!(name("").contains("of development only"));
    }

    #[test]
    fn fleets_of_one_workload_say_what_tells_them_apart() {
        let titles = |facts: &Facts| -> Vec<String> {
            let title = |verdict: Verdict| match verdict {
                Verdict::Found(Finding { change, .. }) => change.kind().describe(),
                Verdict::Declined(declined) => declined.why,
            };
            verdicts(facts, "").into_iter().map(title).collect()
        };
        let mut facts = fleet(&format!("workload = \"nb\"\nteam = \"vision\"\n{SMALL}"));
        facts.resources[1].owner.team = Some("speech".into());
        let teams = titles(&facts);
        assert!(teams[0].starts_with("Run 1 resource of nb (team speech) only"), "{teams:?}");
        assert!(teams[1].starts_with("Run 1 resource of nb (team vision) only"), "{teams:?}");
        facts.resources[1].owner.team = Some("vision".into());
        facts.resources[1].owner.zone = "Europe/Berlin".into();
        let zones = titles(&facts);
        assert!(zones[0].contains("of nb only") && zones[0].contains("Europe/Berlin"), "{zones:?}");
        assert!(zones[1].contains("of nb only") && zones[1].contains("UTC"), "{zones:?}");
    }

    #[test]
    fn a_fleet_has_one_zone_and_one_kind_of_capacity() {
        let mut facts = fleet("workload = \"nb\"\nsku = \"g6.xlarge\"");
        facts.resources[1].owner.zone = "Europe/Berlin".into();
        assert_eq!(verdicts(&facts, "").len(), 2);
        facts.resources[1].owner.zone = "UTC".into();
        facts.resources[1].sku = lowwater_model::known::Known::Value("p5.48xlarge".into());
        let all = verdicts(&facts, "");
        assert!(
            matches!(&all[..], [Verdict::Found(_), Verdict::Declined(scarce)] if scarce.why.starts_with("scarce")),
            "{all:?}"
        );
    }

    #[test]
    fn scarce_is_what_the_policy_lists_and_what_nobody_knows() {
        let scarce = |owner: &str, policy: &str| {
            answer(&format!("workload = \"nb\"\n{owner}"), policy).is_err_and(|why| why.starts_with("scarce"))
        };
        assert!(!scarce(SMALL, ""));
        assert!(scarce(SMALL, "[lever.off_hours]\nscarce = [\"L4\"]"));
        assert!(scarce("sku = \"p4d.24xlarge\"", ""));
        assert!(scarce("", ""), "no type on the bill");
        for name in ["nb", "p4d.24xlarge", "A100-40"] {
            assert!(!scarce(
                "sku = \"p4d.24xlarge\"",
                &format!("[lever.off_hours]\nreserved_capacity = [\"{name}\"]")
            ));
        }
        assert!(!scarce("", "[lever.off_hours]\nreserved_capacity = [\"m00\", \"m01\"]"));
        assert!(scarce(
            "sku = \"p4d.24xlarge\"",
            "[lever.off_hours]\nreserved_capacity = [\"H100\"]"
        ));
    }

    #[test]
    fn holidays_are_frozen_from_the_history_on() {
        let facts = fleet(&format!("{SMALL}\nworkload = \"nb\"\nholidays = \"X\""));
        let all = verdicts(&facts, "");
        let [
            Verdict::Found(Finding {
                change: lowwater_model::change::Change::SetSchedule(set),
                ..
            }),
        ] = &all[..]
        else {
            panic!("{all:?}")
        };
        let days: Vec<String> = set.schedule.holiday_dates.iter().map(ToString::to_string).collect();
        assert_eq!(days, ["2026-10-07", "2027-01-01"]);
        // A day off that is needed is kept by the machines' own activity: nine active hours stay.
        let stopped = Replay::of(&facts).with(&lowwater_model::change::Change::SetSchedule(set.clone()));
        assert_eq!(stopped.saved().cash.amount(), 2.0 * (672.0 - 19.0 * 11.0 - 9.0));
    }

    #[test]
    fn settings_of_the_team_decide() {
        let policy = "[team.vision.lever.off_hours]\nmargin_hours = 3\n[lever.off_hours]\nmargin_hours = 0";
        let of = |team: &str| answer(&format!("{SMALL}\nworkload = \"nb\"\nteam = \"{team}\""), policy).unwrap();
        assert!(of("vision").contains("06:00-21:00") && of("speech").contains("09:00-18:00"));
    }

    #[test]
    fn other_classes_are_none_of_its_business() {
        for class in ["training", "realtime-inference", "ci"] {
            let mut facts = fleet(SMALL);
            let class = Class::parse(class).unwrap();
            facts.resources.iter_mut().for_each(|r| r.owner.class = class);
            assert!(verdicts(&facts, "").is_empty());
        }
    }
}
