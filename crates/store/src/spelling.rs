//! Owners whose names differ only in case are one: `Platform` and `platform` pay from the same budget.

use std::collections::BTreeMap;

use lowwater_model::facts::Owner;
use lowwater_model::id::Team;
use lowwater_model::workload::Workloads;

/// The fields that are folded, as words for a note.
const FIELDS: [&str; 4] = ["team", "project", "environment", "model"];

/// One spelling for each value in any case, by field: as declared in workloads.toml, else the most frequent, else the
/// first by alphabet.
#[derive(Clone, Debug, Default)]
pub struct Spelling {
    chosen: [BTreeMap<String, String>; 4],
    others: [BTreeMap<String, Vec<String>>; 4],
}

fn values(owner: &Owner) -> [Option<&str>; 4] {
    [
        owner.team.as_ref().map(Team::as_str),
        owner.project.as_deref(),
        owner.environment.as_deref(),
        owner.model.as_deref(),
    ]
}

impl Spelling {
    /// Over the owners of all resources.
    pub fn of<'a>(workloads: &Workloads, owners: impl Iterator<Item = &'a Owner>) -> Self {
        let mut seen: [BTreeMap<String, BTreeMap<String, u64>>; 4] = Default::default();
        let mut count = |field: usize, value: Option<&str>, times: u64| {
            if let Some(value) = value {
                *seen[field]
                    .entry(value.to_lowercase())
                    .or_default()
                    .entry(value.to_owned())
                    .or_default() += times;
            }
        };
        for workload in &workloads.workload {
            let team = workload.team.as_ref().map(Team::as_str);
            let declared = [
                team,
                workload.project.as_deref(),
                workload.environment.as_deref(),
                workload.model.as_deref(),
            ];
            // What is declared outweighs any number of tags.
            declared
                .into_iter()
                .enumerate()
                .for_each(|(field, value)| count(field, value, 1 << 40));
        }
        for owner in owners {
            values(owner)
                .into_iter()
                .enumerate()
                .for_each(|(field, value)| count(field, value, 1));
        }
        let mut spelling = Self::default();
        for (field, folded) in seen.into_iter().enumerate() {
            for (key, spellings) in folded.into_iter().filter(|(_, s)| s.len() > 1) {
                spelling.choose(field, key, spellings);
            }
        }
        spelling
    }

    fn choose(&mut self, field: usize, key: String, spellings: BTreeMap<String, u64>) {
        let most = spellings.values().max().copied().unwrap_or(0);
        let chosen = spellings
            .iter()
            .find(|(_, times)| **times == most)
            .map(|(text, _)| text.clone());
        let Some(chosen) = chosen else { return };
        let others = spellings.into_keys().filter(|text| *text != chosen).collect();
        self.others[field].insert(chosen.clone(), others);
        self.chosen[field].insert(key, chosen);
    }

    /// Spells the owner's names the one way.
    pub fn fold(&self, owner: &mut Owner) {
        let find = |field: usize, value: &str| self.chosen[field].get(&value.to_lowercase()).cloned();
        if let Some(team) = owner.team.as_ref().and_then(|t| find(0, t.as_str())) {
            owner.team = Some(team.into());
        }
        let rest = [&mut owner.project, &mut owner.environment, &mut owner.model];
        for (field, slot) in (1..).zip(rest) {
            if let Some(one) = slot.as_deref().and_then(|value| find(field, value)) {
                *slot = Some(one);
            }
        }
    }

    /// The owner with its names spelled the one way.
    #[must_use]
    pub fn folded(&self, mut owner: Owner) -> Owner {
        self.fold(&mut owner);
        owner
    }

    /// What was folded, in words.
    pub fn notes(&self) -> Vec<String> {
        let field = |field: usize| {
            self.others[field].iter().map(move |(chosen, others)| {
                format!(
                    "{} `{chosen}` is also written `{}`: counted as one",
                    FIELDS[field],
                    others.join("`, `")
                )
            })
        };
        (0..FIELDS.len()).flat_map(field).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::Owners;
    use lowwater_model::policy::Policy;
    use lowwater_model::workload::Traits;

    fn owners(teams: &[&str], workloads: &Workloads) -> Vec<Owner> {
        let policy = Policy::defaults(&[]);
        let asked = Owners::new(workloads, &policy);
        let of = |team: &&str| {
            let tags = BTreeMap::from([("team".to_owned(), (*team).to_owned())]);
            asked.of(&Traits {
                tags,
                ..Traits::default()
            })
        };
        teams.iter().map(of).collect()
    }

    #[test]
    fn the_most_frequent_spelling_wins_and_the_declared_one_over_it() {
        let none = Workloads::default();
        let all = owners(&["platform", "Platform", "Platform", "search"], &none);
        let spelling = Spelling::of(&none, all.iter());
        assert_eq!(spelling.folded(all[0].clone()).team, Some("Platform".into()));
        assert_eq!(spelling.folded(all[3].clone()).team, Some("search".into()));
        assert_eq!(
            spelling.notes(),
            ["team `Platform` is also written `platform`: counted as one"]
        );
        let text = "[[workload]]\nname = \"a\"\nteam = \"PLATFORM\"\n[[workload.select]]\nsku = \"x\"\n";
        let declared = Workloads::parse(text, "workloads.toml").unwrap();
        let spelling = Spelling::of(&declared, all.iter());
        assert_eq!(spelling.folded(all[1].clone()).team, Some("PLATFORM".into()));
    }

    #[test]
    fn a_tie_goes_to_the_first_by_alphabet_and_one_spelling_says_nothing() {
        let none = Workloads::default();
        let all = owners(&["b", "B"], &none);
        assert_eq!(
            Spelling::of(&none, all.iter()).folded(all[0].clone()).team,
            Some("B".into())
        );
        assert!(Spelling::of(&none, all[..1].iter()).notes().is_empty());
    }
}
