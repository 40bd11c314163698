//! Reading `contract.toml`: unknown keys, values that can't be meant and discounts that contradict each other are errors.

use std::collections::BTreeSet;

use globset::GlobBuilder;
use jiff::civil::Date;
use serde::Deserialize;
use toml::Spanned;

use super::{Contract, Days, Discount, MARKETS, Minimum, Spent};
use crate::cloud::cloud_id;
use crate::error::ConfigError;
use crate::money::Money;
use crate::offer::Market;
use crate::workload::{OneOrMany, day};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    discount: Vec<Spanned<RawDiscount>>,
    #[serde(default)]
    minimum: Vec<Spanned<RawMinimum>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDiscount {
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    service: OneOrMany,
    #[serde(default)]
    sku: OneOrMany,
    #[serde(default)]
    market: OneOrMany,
    share: f64,
    #[serde(default, deserialize_with = "day")]
    from: Option<Date>,
    #[serde(default, deserialize_with = "day")]
    until: Option<Date>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMinimum {
    provider: String,
    #[serde(deserialize_with = "day")]
    from: Option<Date>,
    #[serde(deserialize_with = "day")]
    until: Option<Date>,
    amount: Amount,
    #[serde(default)]
    spent: Option<Amount>,
    #[serde(default, deserialize_with = "day")]
    spent_until: Option<Date>,
}

/// Money as people write it in TOML: `500000`, `500000.5`, `"500000.50"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Amount {
    Whole(i64),
    Decimal(f64),
    Text(String),
}

impl Amount {
    fn money(&self) -> Result<Money, Fault> {
        let text = match self {
            Self::Whole(number) => number.to_string(),
            Self::Decimal(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        };
        let hint = "write it in the bill's currency, such as 500000 or \"500000.50\"";
        Money::parse(&text).map_err(|why| fault(format!("the amount `{text}` {why}"), hint))
    }
}

/// What is wrong with an entry, and what to do.
struct Fault {
    what: String,
    hint: String,
}

fn fault(what: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault {
        what: what.into(),
        hint: hint.into(),
    }
}

/// The line of the text at which a table begins, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

impl Contract {
    /// Reads the file.
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        let raw: File = toml::from_str(text).map_err(|e| ConfigError::toml(file, text, &e))?;
        let mut contract = Self::default();
        for entry in raw.discount {
            let line = line_of(text, entry.span().start);
            let wrong = |f: Fault| ConfigError::new(file, f.what).at(line).hint(f.hint);
            let discount = discount(entry.into_inner(), line).map_err(wrong)?;
            contract.refuse_same(&discount).map_err(wrong)?;
            contract.discounts.push(discount);
        }
        for entry in raw.minimum {
            let line = line_of(text, entry.span().start);
            let wrong = |f: Fault| ConfigError::new(file, f.what).at(line).hint(f.hint);
            let minimum = minimum(&entry.into_inner(), line).map_err(wrong)?;
            contract.refuse_overlap(&minimum).map_err(wrong)?;
            contract.minimums.push(minimum);
        }
        Ok(contract)
    }

    /// Two discounts on the same prices on the same days: nothing says which is meant.
    fn refuse_same(&self, new: &Discount) -> Result<(), Fault> {
        let is_same = |old: &&Discount| {
            (&old.provider, &old.service, &old.sku) == (&new.provider, &new.service, &new.sku)
                && !old.markets.is_disjoint(&new.markets)
                && old.days.meet(new.days)
        };
        self.discounts.iter().find(is_same).map_or(Ok(()), |old| {
            Err(fault(
                format!(
                    "this discount is on the same prices and days as that of line {}",
                    old.line
                ),
                "let the days of one end before the other begins (`until` is its last day), or make one more specific; \
                 discounts do not add up",
            ))
        })
    }

    fn refuse_overlap(&self, new: &Minimum) -> Result<(), Fault> {
        let overlaps = |old: &&Minimum| old.provider == new.provider && old.from <= new.until && new.from <= old.until;
        self.minimums.iter().find(overlaps).map_or(Ok(()), |old| {
            Err(fault(
                format!(
                    "this minimum counts the same spend with {} as that of line {}",
                    new.provider, old.line
                ),
                "let the days of one end before the other begins",
            ))
        })
    }
}

fn discount(raw: RawDiscount, line: usize) -> Result<Discount, Fault> {
    if !(raw.share > 0.0 && raw.share < 1.0) {
        let hint = "it is a part of the list price, above 0 and below 1: 12 % is 0.12";
        return Err(fault(format!("`share` is {}", raw.share), hint));
    }
    in_order(raw.from, raw.until)?;
    Ok(Discount {
        provider: raw.provider.as_deref().map(provider).transpose()?,
        service: patterns("service", raw.service)?,
        sku: patterns("sku", raw.sku)?,
        markets: markets(&raw.market)?,
        share: raw.share,
        days: Days {
            from: raw.from,
            until: raw.until,
        },
        line,
    })
}

fn provider(name: &str) -> Result<String, Fault> {
    match name.trim() {
        "" => Err(fault("`provider` is empty", "name it as the bill does, such as `aws`")),
        name => Ok(cloud_id(name)),
    }
}

/// Texts and globs in lower case: names of services and types are compared in any case.
fn patterns(key: &str, given: OneOrMany) -> Result<OneOrMany, Fault> {
    for text in &given.0 {
        let why = match text.trim() {
            "" => "is empty",
            _ if GlobBuilder::new(text).build().is_err() => "is not a valid glob",
            _ => continue,
        };
        let hint = "write an exact name, a glob such as `p5.*`, or a list of them";
        return Err(fault(format!("`{key}` holds `{text}`, which {why}"), hint));
    }
    Ok(OneOrMany(
        given.0.iter().map(|text| text.trim().to_lowercase()).collect(),
    ))
}

fn markets(given: &OneOrMany) -> Result<BTreeSet<Market>, Fault> {
    if given.is_absent() {
        return Ok(MARKETS.iter().copied().collect());
    }
    let read = |text: &String| {
        Market::parse(text).ok_or_else(|| {
            let all: Vec<&str> = Market::ALL.iter().map(|market| market.as_str()).collect();
            fault(
                format!("`market` holds `{text}`"),
                format!("markets are {}", all.join(", ")),
            )
        })
    };
    given.0.iter().map(read).collect()
}

fn in_order(from: Option<Date>, until: Option<Date>) -> Result<(), Fault> {
    match (from, until) {
        (Some(from), Some(until)) if until < from => Err(fault(
            format!("`until` is {until}, before `from`, {from}"),
            "both are days on which it holds",
        )),
        _ => Ok(()),
    }
}

fn minimum(raw: &RawMinimum, line: usize) -> Result<Minimum, Fault> {
    in_order(raw.from, raw.until)?;
    let needed = |key: &str, day: Option<Date>| {
        day.ok_or_else(|| {
            fault(
                format!("`{key}` is missing"),
                "name the first and the last day of the contract",
            )
        })
    };
    let (from, until) = (needed("from", raw.from)?, needed("until", raw.until)?);
    let amount = raw.amount.money()?;
    if amount <= Money::ZERO {
        return Err(fault(
            format!("`amount` is {amount}"),
            "a minimum is above zero; leave the entry out where there is none",
        ));
    }
    Ok(Minimum {
        provider: provider(&raw.provider)?,
        spent: spent(raw, from, until)?,
        from,
        until,
        amount,
        line,
    })
}

fn spent(raw: &RawMinimum, from: Date, until: Date) -> Result<Option<Spent>, Fault> {
    let (amount, last) = match (&raw.spent, raw.spent_until) {
        (None, None) => return Ok(None),
        (Some(amount), Some(last)) => (amount.money()?, last),
        (None, Some(_)) => {
            return Err(fault(
                "`spent_until` stands without `spent`",
                "say how much it was until that day",
            ));
        }
        (Some(_), None) => {
            return Err(fault(
                "`spent` stands without `spent_until`",
                "say until which day, that one included",
            ));
        }
    };
    if amount < Money::ZERO {
        return Err(fault(
            format!("`spent` is {amount}"),
            "it is what counted so far, from zero",
        ));
    }
    if last < from || until < last {
        let what = format!("`spent_until` is {last}, outside of {from} to {until}");
        return Err(fault(what, "it is a day of the contract; the bill says the rest"));
    }
    Ok(Some(Spent { amount, until: last }))
}
