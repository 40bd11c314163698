//! Is a row a charge? Its numbers and times, read once.

use std::sync::Arc;

use jiff::tz::TimeZone;
use lowwater_model::charge::CostMetric;
use lowwater_model::money::Decimal;

use super::bill::kind;
use super::times::{Instant, Month, Times};
use super::units::Cost;
use crate::schema::Kind;

/// Why a row is not kept.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) column: &'static str,
    pub(crate) value: String,
    pub(crate) reason: String,
}

/// What is odd about a row that is kept, and the value.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) text: String,
    pub(crate) value: String,
}

/// What the unit of a row is made of, and its period.
#[derive(Debug)]
pub(crate) struct Checked<'a> {
    pub(crate) provider: Option<&'a str>,
    pub(crate) account: Option<&'a str>,
    pub(crate) month: Arc<str>,
    pub(crate) start: i64,
    pub(crate) end: Option<i64>,
}

/// A field as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// Text, or nothing.
    Text,
    /// Money or a quantity.
    Number(Decimal),
    /// An instant.
    Time(Instant),
}

impl Value {
    pub(crate) fn number(&self) -> Option<Decimal> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn micros(&self) -> Option<i64> {
        match self {
            Self::Time(instant) => Some(instant.micros),
            _ => None,
        }
    }

    fn instant(&self) -> Option<Instant> {
        match self {
            Self::Time(instant) => Some(*instant),
            _ => None,
        }
    }
}

/// Columns that the checks look at, by their place in the file.
#[derive(Default)]
struct Places {
    costs: [Option<usize>; CostMetric::ALL.len()],
    start: Option<usize>,
    end: Option<usize>,
    billing_start: Option<usize>,
    account: Option<usize>,
    service_provider: Option<usize>,
    provider: Option<usize>,
}

/// Said of a local time that does not say which instant it is.
const UNSURE_TIME: &str = "came twice or never, because the clocks changed; the first of two counts, and what never was \
                           counts as after the change";

/// Said of rows without a provider where their file has a column for it.
const NO_PROVIDER: &str = "the provider is empty, so it is that of `--provider`, else `unknown`";

/// Columns whose empty cells change what a charge counts as, and what it counts as then.
const TOLD_WHEN_EMPTY: &[(&str, &str)] = &[
    ("BillingAccountId", "so the account is `unknown`"),
    ("BillingPeriodStart", "so the month is that of the charge"),
    ("ChargePeriodEnd", "so how long the charge lasted is unknown"),
    ("ChargeCategory", "so the kind of charge is unknown"),
];

/// A column that is more than text.
struct Typed {
    at: usize,
    name: &'static str,
    kind: Kind,
    times: Times,
}

/// Checks the rows of one file after the other.
pub(crate) struct Checker {
    zone: TimeZone,
    zone_given: bool,
    places: Places,
    typed: Vec<Typed>,
    /// Columns of the file whose empty cells are told, and what is told.
    told_when_empty: Vec<(usize, String)>,
    /// The fields of the row that was checked last.
    pub(crate) values: Vec<Value>,
    /// What is odd about it, although it is kept.
    pub(crate) notes: Vec<Note>,
    unzoned: bool,
    warned: bool,
    last_month: Option<(Month, Arc<str>)>,
}

impl Checker {
    /// `zone` is that of times without one; `given` = the user said so.
    pub(crate) fn new(zone: TimeZone, given: bool) -> Self {
        Self {
            zone,
            zone_given: given,
            places: Places::default(),
            typed: Vec::new(),
            told_when_empty: Vec::new(),
            values: Vec::new(),
            notes: Vec::new(),
            unzoned: false,
            warned: false,
            last_month: None,
        }
    }

    /// A new file with these columns.
    pub(crate) fn columns(&mut self, names: &[String]) {
        let find = |wanted: &str| names.iter().position(|name| name == wanted);
        self.places = Places {
            costs: std::array::from_fn(|i| find(CostMetric::ALL[i].column())),
            start: find("ChargePeriodStart"),
            end: find("ChargePeriodEnd"),
            billing_start: find("BillingPeriodStart"),
            account: find("BillingAccountId"),
            service_provider: find("ServiceProviderName"),
            provider: find("ProviderName"),
        };
        let told = TOLD_WHEN_EMPTY.iter().filter_map(|(name, so)| {
            let at = find(name)?;
            Some((at, format!("{name} is empty, {so}")))
        });
        self.told_when_empty = told.collect();
        let typed = names.iter().enumerate().filter_map(|(at, name)| {
            let column = crate::schema::FOCUS.iter().find(|c| c.name == name)?;
            (kind(name)? != Kind::Text).then(|| Typed {
                at,
                name: column.name,
                kind: column.kind,
                times: Times::default(),
            })
        });
        self.typed = typed.collect();
        self.values = vec![Value::Text; names.len()];
        (self.unzoned, self.warned) = (false, false);
    }

    /// The row with its account as it is meant, where spaces stand around it.
    pub(crate) fn with_trimmed_account<'a>(&self, fields: &[Option<&'a str>]) -> Option<Vec<Option<&'a str>>> {
        let at = self.places.account?;
        let account = fields.get(at).copied().flatten()?;
        let trimmed = account.trim();
        (trimmed.len() != account.len()).then(|| {
            let mut fields = fields.to_vec();
            fields[at] = Some(trimmed).filter(|account| !account.is_empty());
            fields
        })
    }

    /// Reads the numbers and times of a row; a fault rejects it.
    pub(crate) fn check<'a>(&mut self, fields: &[Option<&'a str>]) -> Result<Checked<'a>, Fault> {
        self.notes.clear();
        for typed in &mut self.typed {
            let Some(text) = fields.get(typed.at).copied().flatten() else {
                self.values[typed.at] = Value::Text;
                continue;
            };
            self.values[typed.at] = match typed.read(text, &self.zone) {
                Ok((value, zoned)) => {
                    self.unzoned |= !zoned;
                    if value.instant().is_some_and(|instant| instant.unsure) {
                        self.notes.push(Note {
                            text: format!("{} {UNSURE_TIME}", typed.name),
                            value: text.chars().take(60).collect(),
                        });
                    }
                    value
                }
                Err(reason) if typed.must_be_readable() => {
                    return Err(Fault {
                        column: typed.name,
                        value: text.to_owned(),
                        reason,
                    });
                }
                Err(reason) => {
                    self.notes.push(Note {
                        text: format!("{} {reason}, so it is unknown", typed.name),
                        value: text.chars().take(60).collect(),
                    });
                    Value::Text
                }
            };
        }
        let Some(start) = self.micros(self.places.start) else {
            return Err(Fault {
                column: "ChargePeriodStart",
                value: String::new(),
                reason: "is missing".into(),
            });
        };
        let end = self.micros(self.places.end);
        if end.is_some_and(|end| end < start) {
            let text = self.places.end.and_then(|at| fields[at]).unwrap_or_default();
            return Err(Fault {
                column: "ChargePeriodEnd",
                value: text.to_owned(),
                reason: "is before ChargePeriodStart".into(),
            });
        }
        let checked = self.checked(fields, start, end);
        self.note_empty(fields, checked.provider);
        Ok(checked)
    }

    /// Notes what an absent value makes of the charge, as it is noted of an absent column.
    fn note_empty(&mut self, fields: &[Option<&str>], provider: Option<&str>) {
        let is_empty = |at: usize| fields.get(at).copied().flatten().is_none();
        let mut note = |text: &str| {
            self.notes.push(Note {
                text: text.to_owned(),
                value: String::new(),
            });
        };
        for (at, text) in &self.told_when_empty {
            if is_empty(*at) {
                note(text);
            }
        }
        let named = self.places.service_provider.or(self.places.provider);
        if named.is_some() && provider.is_none() {
            note(NO_PROVIDER);
        }
    }

    fn checked<'a>(&mut self, fields: &[Option<&'a str>], start: i64, end: Option<i64>) -> Checked<'a> {
        let text = |at: Option<usize>| at.and_then(|at| fields.get(at).copied().flatten());
        let month = self.month();
        Checked {
            provider: text(self.places.service_provider).or_else(|| text(self.places.provider)),
            account: text(self.places.account),
            month,
            start,
            end,
        }
    }

    /// The billing month as the bill writes it, else that of the charge in UTC; most rows are of the month of the row before.
    fn month(&mut self) -> Arc<str> {
        let at = |at: Option<usize>| self.values.get(at?)?.instant();
        let billed = at(self.places.billing_start).map(|instant| instant.written_month);
        let month = billed.or_else(|| at(self.places.start).map(|instant| instant.utc_month));
        match (&self.last_month, month) {
            (Some((last, text)), Some(month)) if month == *last => Arc::clone(text),
            (_, None) => Arc::from(""),
            (_, Some(month)) => {
                let text: Arc<str> = month.to_string().into();
                self.last_month = Some((month, Arc::clone(&text)));
                text
            }
        }
    }

    /// The unit of a row that is rejected, where its month can be read.
    pub(crate) fn place<'a>(&mut self, fields: &[Option<&'a str>]) -> Option<Checked<'a>> {
        for typed in self.typed.iter_mut().filter(|t| t.kind == Kind::Time) {
            let text = fields.get(typed.at).copied().flatten();
            let read = text.and_then(|text| typed.read(text, &self.zone).ok());
            self.values[typed.at] = read.map_or(Value::Text, |(value, _)| value);
        }
        let start = self
            .micros(self.places.start)
            .or_else(|| self.micros(self.places.billing_start))?;
        Some(self.checked(fields, start, None))
    }

    /// BilledCost of a rejected row as the file writes it, where it can be read: that is the money at stake.
    pub(crate) fn at_stake<'a>(&self, fields: &[Option<&'a str>]) -> Option<&'a str> {
        let text = fields
            .get(self.places.costs[CostMetric::Billed as usize]?)
            .copied()
            .flatten()?;
        Decimal::parse(text).is_ok().then_some(text)
    }

    /// Another cost of a row whose BilledCost can't be read, in words: it is no substitute, but a trace.
    pub(crate) fn other_cost(&self, fields: &[Option<&str>]) -> Option<String> {
        if self.at_stake(fields).is_some() {
            return None;
        }
        CostMetric::ALL.iter().zip(self.places.costs).find_map(|(metric, at)| {
            let text = fields.get(at?).copied().flatten()?;
            Decimal::parse(text).ok()?;
            Some(crate::load::rejects::other_cost(metric.column(), text))
        })
    }

    /// The costs of the row that was checked last.
    pub(crate) fn costs(&self) -> [Cost; CostMetric::ALL.len()] {
        self.places.costs.map(|at| match at.map(|at| self.values[at]) {
            None => Cost::Absent,
            Some(Value::Number(cost)) => Cost::Known(cost),
            Some(_) => Cost::Unknown,
        })
    }

    /// Was there a time without a zone, for the first time in this file, and did the user not say which it is?
    pub(crate) fn take_unzoned(&mut self) -> bool {
        let first = self.unzoned && !self.warned;
        self.warned |= first;
        first && !self.zone_given
    }

    fn micros(&self, at: Option<usize>) -> Option<i64> {
        self.values.get(at?)?.micros()
    }
}

impl Typed {
    /// Money and the period of a charge can't be guessed; the rest may be unknown.
    fn must_be_readable(&self) -> bool {
        self.kind == Kind::Cost || (self.kind == Kind::Time && self.name != "BillingPeriodEnd")
    }

    /// The value, and whether it said where on earth.
    fn read(&mut self, text: &str, zone: &TimeZone) -> Result<(Value, bool), String> {
        if self.kind == Kind::Time {
            return match self.times.read(text, zone) {
                Ok(instant) => Ok((Value::Time(*instant), instant.zoned)),
                Err(reason) => Err(reason.clone()),
            };
        }
        match Decimal::parse(text) {
            Ok(number) => Ok((Value::Number(number), true)),
            Err(error) => Err(error.to_string()),
        }
    }
}
