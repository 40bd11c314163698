//! What is known of one resource, who said so, and what the plan makes of it.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_engine::class;
use lowwater_model::clue::Guess;
use lowwater_model::facts::{Facts, Owner, Resource};
use lowwater_model::id::{Team, WorkloadName};
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::plan::Plan;
use lowwater_model::usage::{BINS, HourUsage};
use lowwater_model::workload::{Class, Role};
use serde::Serialize;

use super::resource::{cost, is_observed, line_cost, line_hours, name};
use crate::amount::{self, UNKNOWN, cents, echoed, plural, quantity};
use crate::output::View;
use crate::screen::{Column, Figure, Screen, Table, figure};

/// A resource.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// FOCUS ResourceId.
    pub id: String,
    /// FOCUS ResourceName or Name tag.
    pub name: Option<String>,
    /// Cloud, account and region.
    pub place: String,
    /// Instance type, or why it is unknown.
    pub sku: Known<String>,
    /// GPUs; null where nobody says how many.
    pub gpus: Option<f64>,
    /// GPU model.
    pub accelerator: Option<String>,
    /// Its owner and rules.
    pub owner: Owner,
    /// What it looks like; null where its class is declared.
    pub guess: Option<Guessed>,
    /// Cost over the replayed period.
    pub cost: Money,
    /// In the basis metric, by kind of line.
    pub lines: Vec<Line>,
    /// What its GPUs did in the replayed period.
    pub usage: Option<Observed>,
    /// Hosts whose metrics are its own, and by which rule.
    pub hosts: Vec<Host>,
    /// What the plan does with it.
    pub steps: Vec<PlanMention>,
    /// What the plan refuses to do with it.
    pub declined: Vec<PlanMention>,
    /// Why the plan is not one of this data and policy; null where it is, or where there is none.
    pub plan_stale: Option<String>,
    #[serde(skip)]
    title: String,
    #[serde(skip)]
    currency: String,
    #[serde(skip)]
    days: String,
}

/// A guess, and what would make it a declaration.
#[derive(Debug, Serialize)]
pub struct Guessed {
    /// With what speaks for it and against acting on it.
    #[serde(flatten)]
    pub guess: Guess,
    /// Lines for workloads.toml; null where nothing speaks for a class.
    pub declare: Option<String>,
}

impl Guessed {
    fn of(facts: &Facts, resource: &Resource) -> Option<Self> {
        if resource.owner.class != Class::Unknown {
            return None;
        }
        let guess = class::guess(facts, resource);
        let declare = (guess.class != Class::Unknown)
            .then(|| class::declaration(guess.class, guess.role, &BTreeSet::from([resource.id.clone()])));
        Some(Self { guess, declare })
    }

    /// `looks like training, 87.5 % sure`.
    fn words(&self) -> String {
        let Guess {
            class,
            role,
            confidence,
            ..
        } = &self.guess;
        match (class, role) {
            (Class::Unknown, _) => "nothing speaks for a class".to_owned(),
            (_, Role::Standby) => format!("looks like a standby of {class}, {} sure", amount::share(*confidence)),
            _ => format!("looks like {class}, {} sure", amount::share(*confidence)),
        }
    }

    fn under(&self, screen: Screen) -> Screen {
        let speaks = self.guess.because.iter().map(|line| format!("for it: {line}"));
        let against = self.guess.against.iter();
        let against = against.map(|line| format!("against acting on a guess: {line}"));
        let said = match self.guess.class {
            Class::Unknown => "Nobody declared what it is for, and nothing speaks for a class.".to_owned(),
            _ => format!("Nobody declared what it is for; it {}.", self.words()),
        };
        let screen = screen
            .title("What it looks like")
            .text(said)
            .points(speaks.chain(against).collect());
        match &self.declare {
            Some(lines) => screen
                .text("To declare it, write into workloads.toml, with the right class:")
                .verbatim(lines),
            None => screen.text("To declare it, give it a class in workloads.toml or by tag."),
        }
    }
}

/// One kind of cost.
#[derive(Debug, Serialize)]
pub struct Line {
    /// `compute` or `other`.
    pub kind: String,
    /// Terms.
    pub pricing: String,
    /// Commitment that covered it.
    pub commitment: Option<String>,
    /// How it came to its hours.
    pub spread: String,
    /// Billed in the replayed period.
    pub hours: f64,
    /// Cost in the replayed period.
    pub cost: Money,
}

/// What was observed.
#[derive(Debug, Serialize)]
pub struct Observed {
    /// Hours with metrics.
    pub hours: u64,
    /// Of them idle.
    pub idle_hours: u64,
    /// Mean of the activity, 0 to 1.
    pub activity_mean: f64,
    /// Upper end of the highest activity bin, 0 to 1.
    pub activity_max: f64,
    /// Upper end of the highest bin of memory held, 0 to 1; null = never measured.
    pub memory_max: Option<f64>,
    /// Highest power in watts; null = never measured.
    pub power_max_w: Option<u16>,
}

/// A host that was joined to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Host {
    /// Name in the metrics.
    pub host: String,
    /// Which rule matched.
    pub evidence: String,
}

/// Where the plan speaks of it.
#[derive(Debug, Serialize)]
pub struct PlanMention {
    /// Which lever.
    pub lever: String,
    /// Id of the step; none for refusals.
    pub step: Option<String>,
    /// Its number in the plan, from 1; none for refusals.
    pub number: Option<usize>,
    /// What to do, or why not.
    pub text: String,
}

/// A resource by id, by name, or by an end of its id that no other one has.
pub fn find<'a>(facts: &'a Facts, text: &str) -> Result<&'a Resource, String> {
    let exact = |r: &&Resource| r.id.as_str() == text || r.name.as_deref() == Some(text);
    let ending = |r: &&Resource| r.id.as_str().ends_with(text);
    let found: Vec<&Resource> = facts.resources.iter().filter(exact).collect();
    let found = if found.is_empty() {
        facts.resources.iter().filter(ending).collect()
    } else {
        found
    };
    match found[..] {
        [one] => Ok(one),
        [] => Err(not_found(facts, text)),
        [first, ..] => Err(format!(
            "{} resources match {}, such as {}\nhint: give the whole ResourceId",
            found.len(),
            echoed(text),
            first.id
        )),
    }
}

/// Perhaps it is the name of an owner: then these are its resources.
fn not_found(facts: &Facts, text: &str) -> String {
    let owned = |by: fn(&Resource) -> Option<&str>| -> Vec<&Resource> {
        facts.resources.iter().filter(|r| by(r) == Some(text)).collect()
    };
    let workload = owned(|r| r.owner.workload.as_ref().map(WorkloadName::as_str));
    let team = owned(|r| r.owner.team.as_ref().map(Team::as_str));
    for (word, found) in [("workload", workload), ("team", team)] {
        if let [first, ..] = found[..] {
            let named: Vec<&str> = found.iter().take(3).map(|r| r.id.as_str()).collect();
            return format!(
                "{} is a {word} and no resource: it has {}, such as {}\nhint: `lowwater explain {}`",
                echoed(text),
                plural(found.len() as u64, "GPU resource"),
                named.join(", "),
                crate::config::quoted(first.id.as_str())
            );
        }
    }
    format!(
        "no GPU resource of the bill is called {}\nhint: `lowwater show plan` and `lowwater doctor` name resources",
        echoed(text)
    )
}

impl Explained {
    /// Of a resource of these facts, with the plan that was made from them, where there is one.
    pub fn new(facts: &Facts, resource: &Resource, plan: Option<&Plan>, hosts: Vec<Host>) -> Self {
        let period = &facts.period;
        let lines = resource.lines.iter().map(|line| Line {
            kind: words(&line.kind),
            pricing: line.pricing.to_string(),
            commitment: line.commitment.as_ref().map(ToString::to_string),
            spread: words(&line.spread),
            hours: line_hours(line, period),
            cost: line_cost(line, period),
        });
        let mentions = plan.map(|p| mentions(p, resource));
        let (steps, declined) = mentions.unwrap_or_default();
        Self {
            id: resource.id.to_string(),
            name: resource.name.clone(),
            place: format!("{} {} {}", resource.cloud, resource.account, resource.region),
            sku: match &resource.sku {
                Known::Value(sku) => Known::Value(sku.to_string()),
                Known::Unknown(why) => Known::Unknown(why.clone()),
            },
            gpus: Some(resource.gpus).filter(|gpus| *gpus > 0.0),
            accelerator: resource.sku_fact().map(|f| f.accelerator.to_string()),
            owner: resource.owner.clone(),
            guess: Guessed::of(facts, resource),
            cost: cost(resource, period),
            lines: lines.collect(),
            usage: is_observed(resource, period).then(|| observed(facts, resource)),
            hosts,
            steps,
            declined,
            plan_stale: None,
            title: name(resource),
            currency: facts.currency.to_string(),
            days: amount::period(period),
        }
    }

    fn figures(&self) -> Vec<Figure> {
        let owner = &self.owner;
        let or_unknown = |v: Option<String>| v.unwrap_or_else(|| UNKNOWN.to_owned());
        let by = |field: &str| owner.said_by(field).unwrap_or_default().to_owned();
        let sku = match &self.sku {
            Known::Value(sku) => figure("SKU", sku, self.gpu_words()),
            Known::Unknown(why) => figure("SKU", UNKNOWN, why.clone()),
        };
        let mut figures = vec![
            figure(
                "cost",
                format!("{} {}", cents(self.cost), self.currency),
                self.days.clone(),
            ),
            sku,
            figure("where", self.place.clone(), ""),
            figure("class", owner.class.as_str(), self.class_words()),
            figure("role", owner.role.as_str(), by("role")),
            figure(
                "team",
                or_unknown(owner.team.as_ref().map(ToString::to_string)),
                by("team"),
            ),
            figure(
                "workload",
                or_unknown(owner.workload.as_ref().map(ToString::to_string)),
                by("workload"),
            ),
            figure("zone", owner.zone.clone(), by("zone")),
        ];
        if let Some(keep) = &owner.keep {
            let until = keep
                .until
                .map_or_else(|| "for good".to_owned(), |day| format!("until {day}"));
            figures.push(figure("keep", until, format!("{}; {}", keep.reason, by("keep"))));
        }
        if !owner.never.is_empty() {
            let never: Vec<&str> = owner.never.iter().map(String::as_str).collect();
            figures.push(figure("never", never.join(", "), never_words(owner)));
        }
        if let Some(criticality) = owner.criticality {
            figures.push(figure("criticality", criticality.as_str(), by("criticality")));
        }
        figures
    }

    /// Who declared the class, or what it looks like.
    fn class_words(&self) -> String {
        let declared = self.owner.said_by("class").unwrap_or_default();
        self.guess.as_ref().map_or_else(|| declared.to_owned(), Guessed::words)
    }

    fn gpu_words(&self) -> String {
        match (&self.accelerator, self.gpus) {
            (Some(model), Some(gpus)) => format!("{} x {model}", amount::plain(gpus)),
            (_, Some(gpus)) => format!("{} GPUs; not in the table of hardware facts", amount::plain(gpus)),
            (_, None) => "unknown GPUs; not in the table of hardware facts".to_owned(),
        }
    }

    fn lines_table(&self) -> Table {
        let mut table = Table::new([
            Column::text("kind of cost"),
            Column::text("terms"),
            Column::text("commitment").whole().optional(1),
            Column::text("known by").optional(2),
            Column::number("billed hours"),
            Column::number(format!("cost ({})", self.currency)),
        ]);
        for line in &self.lines {
            let commitment = line.commitment.clone().unwrap_or_else(|| "none".to_owned());
            table.row([
                line.kind.clone(),
                line.pricing.clone(),
                commitment,
                line.spread.clone(),
                quantity(line.hours),
                cents(line.cost),
            ]);
        }
        table
    }

    fn usage_words(&self) -> String {
        let Some(usage) = &self.usage else {
            return "No hour of it was measured in these days: its activity is unknown, which is not idle.".to_owned();
        };
        let memory = usage.memory_max.map_or_else(|| UNKNOWN.to_owned(), amount::share);
        let power = usage
            .power_max_w
            .map_or_else(|| UNKNOWN.to_owned(), |w| format!("{w} W"));
        format!(
            "{} measured, {} of them idle. Activity: mean {}, never over {}. Memory held: at most {memory}. Power: at most {power}.",
            plural(usage.hours, "hour"),
            amount::count(usage.idle_hours),
            amount::share(usage.activity_mean),
            amount::share(usage.activity_max)
        )
    }
}

/// Who forbids what: `stop: workload `nb` in workloads.toml; set_schedule: [environment.prod] in policy.toml`.
fn never_words(owner: &Owner) -> String {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kind in &owner.never {
        let by = owner.forbidden_by(kind).unwrap_or_default();
        kinds.entry(by).or_default().push(kind);
    }
    match kinds.first_key_value() {
        Some((by, _)) if kinds.len() == 1 => (*by).to_owned(),
        _ => {
            let words = kinds.iter().map(|(by, kinds)| format!("{}: {by}", kinds.join(", ")));
            words.collect::<Vec<_>>().join("; ")
        }
    }
}

/// A word of a closed vocabulary, as JSON writes it.
fn words(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|v| v.as_str().map(|s| s.replace('_', " ")))
        .unwrap_or_default()
}

fn observed(facts: &Facts, resource: &Resource) -> Observed {
    let range = facts.period.hour_range();
    let hours: Vec<&HourUsage> = resource
        .usage
        .iter()
        .filter(|(h, _)| range.contains(&h.0))
        .map(|(_, u)| u)
        .collect();
    let top = |bin: u8| (f64::from(bin) + 1.0) / BINS as f64;
    let mean = hours.iter().map(|u| f64::from(u.activity_permille)).sum::<f64>() / 1000.0 / hours.len().max(1) as f64;
    Observed {
        hours: hours.len() as u64,
        idle_hours: hours.iter().filter(|u| u.idle).count() as u64,
        activity_mean: amount::six_digits(mean),
        activity_max: hours.iter().map(|u| top(u.activity_max_bin)).fold(0.0, f64::max),
        memory_max: hours.iter().filter_map(|u| u.memory_max_bin).max().map(top),
        power_max_w: hours.iter().filter_map(|u| u.power_max_w).max(),
    }
}

fn mentions(plan: &Plan, resource: &Resource) -> (Vec<PlanMention>, Vec<PlanMention>) {
    let steps = (1..)
        .zip(&plan.steps)
        .filter(|(_, s)| s.change.kind().resources().contains(&resource.id));
    let steps = steps.map(|(number, s)| PlanMention {
        lever: s.lever.clone(),
        number: Some(number),
        step: Some(s.id.to_string()),
        text: s.title.clone(),
    });
    let declined = plan
        .declined
        .iter()
        .filter(|d| d.target.resources.contains(&resource.id));
    let declined = declined.map(|d| PlanMention {
        lever: d.lever.clone(),
        step: None,
        number: None,
        text: d.why.clone(),
    });
    (steps.collect(), declined.collect())
}

impl View for Explained {
    fn screen(&self) -> Screen {
        let owner = &self.owner;
        let who = match (&owner.workload, &owner.team) {
            (Some(workload), _) => format!("belongs to workload {workload}"),
            (None, Some(team)) => format!("belongs to team {team} and to no declared workload"),
            (None, None) => "has no known owner".to_owned(),
        };
        let headline = format!(
            "{} {who} and cost {} {} from {}.",
            self.title,
            cents(self.cost),
            self.currency,
            self.days
        );
        let mut screen = Screen::default()
            .warnings(self.plan_stale.iter().cloned().collect())
            .then(Screen::new(headline))
            .figures(self.figures())
            .table(self.lines_table())
            .title("What its GPUs did")
            .text(self.usage_words());
        let hosts: Vec<String> = self
            .hosts
            .iter()
            .map(|h| format!("metrics of {}: by {}", h.host, h.evidence))
            .collect();
        screen = screen.points(hosts);
        if !owner.because.is_empty() {
            screen = screen.title("Who said so").points(owner.because.clone());
        }
        if let Some(guess) = &self.guess {
            screen = guess.under(screen);
        }
        let step = |m: &PlanMention| {
            format!(
                "step {} of the plan ({}, {}): {}",
                m.number.unwrap_or_default(),
                m.lever,
                m.step.as_deref().unwrap_or_default(),
                m.text
            )
        };
        let not = |m: &PlanMention| format!("not by {}: {}", m.lever, m.text);
        let plan: Vec<String> = self
            .steps
            .iter()
            .map(step)
            .chain(self.declined.iter().map(not))
            .collect();
        if plan.is_empty() {
            screen
        } else {
            screen.title("In the plan").points(plan)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;
    use crate::view::sample;

    #[test]
    fn each_kind_that_must_never_be_has_its_own_source() {
        let mut facts = sample::facts();
        let owner = &mut facts.resources[0].owner;
        owner.never = ["set_schedule".to_owned(), "stop".to_owned()].into();
        owner.criticality = lowwater_model::workload::Criticality::parse("high");
        owner.because.extend([
            "never: set_schedule, by [environment.prod] in policy.toml".to_owned(),
            "never: workload `nb` in workloads.toml".to_owned(),
            "criticality: [team.a] in policy.toml".to_owned(),
        ]);
        let mut view = Explained::new(&facts, &facts.resources[0], Some(&sample::plan()), Vec::new());
        let text = view.screen().render(160, Paint::new(false));
        for part in [
            "set_schedule: [environment.prod] in policy.toml; stop: workload `nb` in workloads.toml",
            "criticality  high",
            "[team.a] in policy.toml",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        view.plan_stale = Some("this plan is of other data".into());
        let text = view.screen().render(160, Paint::new(false));
        assert!(
            text.lines().next().unwrap().contains("this plan is of other data"),
            "{text}"
        );
        assert!(text.contains("In the plan"), "{text}");
    }

    #[test]
    fn tells_who_owns_it_and_what_the_plan_says() {
        let facts = sample::facts();
        let resource = find(&facts, "i-0aaa").unwrap();
        let host = Host {
            host: "node-1".into(),
            evidence: "hosts.csv".into(),
        };
        let view = Explained::new(&facts, resource, Some(&sample::plan()), vec![host]);
        let text = view.screen().render(120, Paint::new(false));
        for part in [
            "belongs to workload notebooks",
            "workload notebooks in workloads.toml",
            "step 1 of the plan (idle, aa11bb22cc33): Stop i-0aaa",
            "8 x A100-40",
            "metrics of node-1: by hosts.csv",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(text.contains("Memory held: at most unknown"), "{text}");
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(json["id"], "i-0aaa");
        assert!(json["usage"]["memory_max"].is_null());
        assert_eq!(json["steps"][0]["step"], "aa11bb22cc33");
    }

    #[test]
    fn an_undeclared_resource_says_what_it_looks_like_and_what_to_declare() {
        let mut facts = sample::facts();
        let shown = |facts: &Facts| {
            let view = Explained::new(facts, &facts.resources[0], None, Vec::new());
            let text = view.screen().render(120, Paint::new(false));
            (text, serde_json::to_value(&view).unwrap())
        };
        let (text, json) = shown(&facts);
        assert!(
            json["guess"].is_null() && !text.contains("What it looks like"),
            "{text}"
        );

        facts.resources[0].owner.class = Class::Unknown;
        facts.resources[0].owner.workload = None;
        facts.resources[0].name = Some("train-llm-7".into());
        facts.resources[0].clues.tags = [("app".into(), "pytorch-training".into())].into();
        let guess = class::guess(&facts, &facts.resources[0]);
        assert_eq!(guess.class, Class::Training, "{guess:?}");
        let (text, json) = shown(&facts);
        let sure = amount::share(guess.confidence);
        for part in [
            format!("it looks like training, {sure} sure."),
            format!("- for it: {}", guess.because[0]),
            "[[workload]]".to_owned(),
            "class = \"training\"".to_owned(),
            "resource_id = [\"i-0aaa\"]".to_owned(),
        ] {
            assert!(text.contains(&part), "{part}\n{text}");
        }
        assert_eq!(json["guess"]["class"], "training");
        assert_eq!(json["guess"]["confidence"], guess.confidence);
        let declared = json["guess"]["declare"].as_str().unwrap();
        let declared = lowwater_model::workload::Workloads::parse(declared, "workloads.toml").unwrap();
        assert_eq!(declared.workload[0].class, Class::Training);

        facts.resources[0].name = None;
        facts.resources[0].clues = lowwater_model::clue::Clues::default();
        facts.resources[0].usage = lowwater_model::usage::Usage::default();
        facts.resources[0].lines.clear();
        let (text, json) = shown(&facts);
        assert!(json["guess"]["declare"].is_null(), "{json}");
        assert!(text.contains("nothing speaks for a class"), "{text}");
    }

    #[test]
    fn what_was_not_measured_is_unknown_and_not_idle() {
        let mut facts = sample::facts();
        facts.resources[0].usage = lowwater_model::usage::Usage::default();
        let view = Explained::new(&facts, &facts.resources[0], None, Vec::new());
        assert!(
            view.screen()
                .render(100, Paint::new(false))
                .contains("its activity is unknown, which is not idle")
        );
        assert!(serde_json::to_value(&view).unwrap()["usage"].is_null());
    }

    #[test]
    fn finds_by_id_name_or_ending_and_never_guesses() {
        let facts = sample::facts();
        assert_eq!(find(&facts, "0aaa").unwrap().id.as_str(), "i-0aaa");
        assert_eq!(find(&facts, "notebook-i-0bbb").unwrap().id.as_str(), "i-0bbb");
        assert!(find(&facts, "nothing").unwrap_err().contains("is called `nothing`"));
        let workload = find(&facts, "notebooks").unwrap_err();
        assert!(
            workload.starts_with("`notebooks` is a workload and no resource: it has 2 GPU resources, such as i-0aaa"),
            "{workload}"
        );
        assert!(workload.ends_with("hint: `lowwater explain i-0aaa`"), "{workload}");
        let mut team = facts.clone();
        team.resources[1].owner.team = Some("rockets".into());
        assert!(
            find(&team, "rockets")
                .unwrap_err()
                .contains("is a team and no resource: it has 1 GPU resource, such as i-0bbb")
        );
        let mut two = facts.clone();
        two.resources.push(sample::resource("x-0aaa"));
        assert!(find(&two, "0aaa").unwrap_err().starts_with("2 resources match `0aaa`"));
    }
}
