//! The replaceable units of a load: what came into each, in sums, days and notes.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::charge::CostMetric;
use lowwater_model::money::{Decimal, ExactSum, Money};

use super::notes::Judged;
use crate::error::{InputError, StoreError};

/// In microseconds.
const SECOND: i64 = 1_000_000;
/// In seconds.
const DAY: i64 = 86_400;
/// More units than this in one load are a misread column, not a bill.
const MAX_UNITS: usize = 4096;

/// How often something was seen, and how much money was in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) rows: u64,
    pub(crate) money: Option<Money>,
    /// Where it was seen first, as file and row.
    first: Option<String>,
}

/// A cost of one charge.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    /// The file has no such column.
    Absent,
    /// The column says nothing.
    Unknown,
    Known(Decimal),
}

/// One unit while it is loaded.
#[derive(Debug, Default)]
pub(crate) struct Unit {
    pub(crate) source: String,
    pub(crate) account: String,
    pub(crate) month: String,
    pub(crate) rows: u64,
    pub(crate) rejects: u64,
    /// Rows without a cost, in the order of the metrics.
    unknown: [u64; CostMetric::ALL.len()],
    /// Exact sums; none where nothing is known.
    totals: [Option<ExactSum>; CostMetric::ALL.len()],
    /// Sums of the amounts without sign, where anything is known.
    gross: [Option<Money>; CostMetric::ALL.len()],
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) days: BTreeSet<i64>,
    last_day: Option<i64>,
    /// Files that it has rows of.
    pub(crate) inputs: BTreeSet<usize>,
    pub(crate) notes: BTreeMap<String, Tally>,
    /// Files written, by table.
    pub(crate) files: BTreeMap<String, Vec<String>>,
    /// Resources that were seen with a GPU, with the number of charges files that were closed before.
    pub(crate) gpu_resources: BTreeMap<String, usize>,
    /// How EffectiveCost looks, by provider.
    judged: BTreeMap<String, Judged>,
}

impl Unit {
    /// Notes that something was seen once more.
    pub(crate) fn note(&mut self, text: &str, money: Option<Money>) {
        if !self.notes.contains_key(text) {
            self.notes.insert(text.to_owned(), Tally::default());
        }
        if let Some(tally) = self.notes.get_mut(text) {
            tally.rows += 1;
            if let Some(money) = money {
                *tally.money.get_or_insert_default() += money;
            }
        }
    }

    /// As if that had not been seen.
    pub(crate) fn forget(&mut self, text: &str) {
        self.notes.remove(text);
    }

    /// The same with the BilledCost of its row, and the place where it was seen first.
    pub(crate) fn note_at(&mut self, text: &str, billed: Money, place: impl FnOnce() -> String) {
        self.note(text, Some(billed));
        if let Some(tally) = self.notes.get_mut(text) {
            tally.first.get_or_insert_with(place);
        }
    }

    /// How EffectiveCost of a provider looks.
    pub(crate) fn judged(&mut self, provider: &str) -> &mut Judged {
        if !self.judged.contains_key(provider) {
            self.judged.insert(provider.to_owned(), Judged::default());
        }
        self.judged
            .get_mut(provider)
            .unwrap_or_else(|| unreachable!("put there above"))
    }

    /// Adds a row: its costs in the columns that its file has, its period in microseconds.
    pub(crate) fn add(&mut self, costs: [Cost; CostMetric::ALL.len()], start: i64, end: Option<i64>) {
        let begin = start.div_euclid(SECOND);
        let end = end.map_or(begin, |end| end.div_euclid(SECOND)).max(begin);
        if self.rows == 0 {
            (self.first, self.last) = (begin, end);
        }
        (self.first, self.last) = (self.first.min(begin), self.last.max(end));
        let day = begin.div_euclid(DAY);
        // Neighbours are often of one day.
        if self.last_day != Some(day) {
            self.last_day = Some(day);
            self.days.insert(day);
        }
        self.rows += 1;
        for (at, cost) in costs.into_iter().enumerate() {
            match cost {
                Cost::Known(cost) => {
                    self.totals[at].get_or_insert_default().add(cost);
                    *self.gross[at].get_or_insert_default() += without_sign(cost.money);
                }
                Cost::Unknown => self.unknown[at] += 1,
                Cost::Absent => {}
            }
        }
    }

    /// Exact sums by name of the metric.
    pub(crate) fn totals(&self) -> BTreeMap<String, ExactSum> {
        let named = CostMetric::ALL.iter().zip(self.totals);
        named
            .filter_map(|(metric, sum)| Some((metric.as_str().to_owned(), sum?)))
            .collect()
    }

    /// Sums of the amounts without sign, by name of the metric.
    pub(crate) fn gross(&self) -> BTreeMap<String, Money> {
        let named = CostMetric::ALL.iter().zip(self.gross);
        named
            .filter_map(|(metric, sum)| Some((metric.as_str().to_owned(), sum?)))
            .collect()
    }

    /// Sum of BilledCost without sign.
    pub(crate) fn gross_billed(&self) -> Money {
        self.gross[CostMetric::Billed as usize].unwrap_or_default()
    }

    /// Why EffectiveCost can't be trusted, a sentence a provider.
    pub(crate) fn unreliable(&self) -> Vec<String> {
        let judged = self.judged.iter();
        judged
            .filter_map(|(provider, judged)| judged.verdict(provider))
            .collect()
    }

    /// Rows without a BilledCost.
    pub(crate) fn unknown_costs(&self) -> u64 {
        self.unknown[CostMetric::Billed as usize]
    }

    /// A table of it was written to this file.
    pub(crate) fn add_file(&mut self, table: &str, name: String) {
        self.files.entry(table.to_owned()).or_default().push(name);
    }

    fn closed_files(&self) -> usize {
        self.files.get("charges").map_or(0, Vec::len)
    }

    /// A resource was seen with a GPU.
    pub(crate) fn add_gpu_resource(&mut self, resource: &str) {
        let closed = self.closed_files();
        self.gpu_resources.entry(resource.to_owned()).or_insert(closed);
    }

    /// Charges files that were closed before some resources were seen with a GPU, with those resources.
    pub(crate) fn late(&self) -> Vec<(String, BTreeSet<String>)> {
        let files = self.files.get("charges").into_iter().flatten().enumerate();
        let late = files.map(|(number, file)| {
            let later = self.gpu_resources.iter().filter(|(_, closed)| **closed > number);
            (
                file.clone(),
                later.map(|(resource, _)| resource.clone()).collect::<BTreeSet<_>>(),
            )
        });
        late.filter(|(_, resources)| !resources.is_empty()).collect()
    }

    /// What a reader must know, with counts.
    pub(crate) fn warnings(&self) -> BTreeSet<String> {
        let unknown = CostMetric::ALL.iter().zip(self.unknown).filter(|(_, rows)| *rows > 0);
        let unknown = unknown.map(|(metric, rows)| {
            let column = metric.column();
            format!("{column} is unknown in {}; sums leave them out", count(rows))
        });
        let notes = self.notes.iter().map(|(text, tally)| {
            let money = tally
                .money
                .map(|money| format!(", BilledCost {money}"))
                .unwrap_or_default();
            let first = tally
                .first
                .as_ref()
                .map(|at| format!(", the first at {at}"))
                .unwrap_or_default();
            format!("{text}: {}{money}{first}", count(tally.rows))
        });
        unknown.chain(notes).chain(self.unreliable()).collect()
    }
}

/// An amount, a credit as large as the charge that it takes back.
pub(crate) fn without_sign(amount: Money) -> Money {
    if amount < Money::ZERO { -amount } else { amount }
}

/// `1 row`, `12 rows`.
pub(crate) fn count(rows: u64) -> String {
    format!("{rows} row{}", if rows == 1 { "" } else { "s" })
}

/// All units of a load.
#[derive(Debug, Default)]
pub(crate) struct Units {
    index: BTreeMap<(String, String, String), usize>,
    list: Vec<Unit>,
    last: usize,
}

impl Units {
    /// The unit of a row, new or not.
    pub(crate) fn of(&mut self, source: &str, account: &str, month: &str, file: &str) -> Result<usize, StoreError> {
        if let Some(unit) = self.list.get(self.last)
            && unit.month == month
            && unit.account == account
            && unit.source == source
        {
            return Ok(self.last);
        }
        let key = (source.to_owned(), account.to_owned(), month.to_owned());
        if !self.index.contains_key(&key) {
            self.open(key.clone(), file)?;
        }
        self.last = self.index.get(&key).copied().unwrap_or(self.last);
        Ok(self.last)
    }

    fn open(&mut self, key: (String, String, String), file: &str) -> Result<(), StoreError> {
        if self.list.len() == MAX_UNITS {
            let what = format!("more than {MAX_UNITS} accounts and months in one load");
            let hint = "load the bill in parts, such as month by month; or does BillingAccountId or BillingPeriodStart hold \
                        something else, such as resource ids?";
            return Err(InputError::new(file, what).hint(hint).into());
        }
        let (source, account, month) = key.clone();
        self.index.insert(key, self.list.len());
        self.list.push(Unit {
            source,
            account,
            month,
            ..Unit::default()
        });
        Ok(())
    }

    /// By number.
    pub(crate) fn get_mut(&mut self, at: usize) -> &mut Unit {
        &mut self.list[at]
    }

    /// In the order in which they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Unit> {
        self.list.iter()
    }

    /// In the order in which they came.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Unit> {
        self.list.iter_mut()
    }

    /// All of them, in the order in which they came.
    pub(crate) fn take(&mut self) -> Vec<Unit> {
        std::mem::take(&mut self.list)
    }

    /// The place of each unit in the order of their keys.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.list.len()];
        for (rank, at) in self.index.values().enumerate() {
            ranks[*at] = rank as u32;
        }
        ranks
    }

    /// The one with most rows; of equals, the first by key. None where no row is kept.
    pub(crate) fn largest(&self) -> Option<usize> {
        let ranks = self.ranks();
        let by_size = |at: &usize| (self.list[*at].rows, std::cmp::Reverse(ranks[*at]));
        (0..self.list.len())
            .filter(|at| self.list[*at].rows > 0)
            .max_by_key(by_size)
    }
}
