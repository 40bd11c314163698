//! Money: exact where it was billed, an estimate where it was forecast, and no way to mix the two by accident.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Fraction digits that stored money keeps.
pub const MONEY_DIGITS: u32 = 12;
/// Fraction digits that the exact sum of a file keeps beside it.
pub const EXACT_DIGITS: u32 = 38;
const UNIT: i128 = 10_i128.pow(MONEY_DIGITS);
const RESIDUAL_UNIT: i128 = 10_i128.pow(EXACT_DIGITS - MONEY_DIGITS);
/// One row may hold at most this many whole units, so that no sum of rows can overflow.
const MAX_WHOLE: i128 = 10_i128.pow(15);

/// An exact amount in 10^-12 of the dataset's billing currency, the same as Arrow's `Decimal128(38, 12)`.
///
/// Only bills make one. A forecast is an [`Estimate`]; [`Money::estimate`] is the one-way door.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(i128);

impl Money {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// From 10^-12 of the currency.
    pub const fn from_units(units: i128) -> Self {
        Self(units)
    }

    /// In 10^-12 of the currency.
    pub const fn units(self) -> i128 {
        self.0
    }

    /// Whole currency units; for tests and tables of facts.
    pub const fn whole(units: i64) -> Self {
        Self(units as i128 * UNIT)
    }

    /// The one-way door from billed money to forecast money.
    pub fn estimate(self) -> Estimate {
        Estimate(self.0 as f64 / UNIT as f64)
    }

    /// `self` x `count`, exact.
    #[must_use]
    pub const fn times(self, count: i64) -> Self {
        Self(self.0 * count as i128)
    }

    /// `self` split into equal parts: (part, remainder); `part x parts + remainder = self`.
    pub const fn split(self, parts: i64) -> (Self, Self) {
        let part = self.0.div_euclid(parts as i128);
        (Self(part), Self(self.0 - part * parts as i128))
    }

    /// Is it exactly nothing?
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// With exactly `digits` fraction digits (at most 12), rounded half to even; for tables, never for sums.
    pub fn fixed(self, digits: u32) -> String {
        let step = 10_i128.pow(MONEY_DIGITS.saturating_sub(digits));
        write_fixed(round_half_even(self.0, step), digits.min(MONEY_DIGITS))
    }

    /// As `fixed`, with separators of thousands: for people.
    pub fn grouped(self, digits: u32) -> String {
        grouped(&self.fixed(digits))
    }

    /// With all twelve fraction digits.
    pub fn full(self) -> String {
        self.fixed(MONEY_DIGITS)
    }

    /// Reads a decimal in FOCUS NumericFormat, E notation allowed.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        Decimal::parse(text).map(|d| d.money)
    }
}

/// Splits `amount` in proportion to the weights (none negative), to the last digit: the parts sum to the amount.
///
/// Each part is rounded down and the remaining digits go to the largest remainders, the earlier first. None where
/// all weights are zero, unless there is nothing to split.
pub fn split_by_weight(amount: Money, weights: &[Money]) -> Option<Vec<Money>> {
    let whole: i128 = weights.iter().map(|w| w.0).sum();
    if whole <= 0 {
        return amount.is_zero().then(|| vec![Money::ZERO; weights.len()]);
    }
    let parts: Vec<(i128, i128)> = weights
        .iter()
        .map(|w| mul_div(amount.0.unsigned_abs(), w.0, whole))
        .collect();
    let left = amount.0.abs() - parts.iter().map(|p| p.0).sum::<i128>();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|a, b| parts[*b].1.cmp(&parts[*a].1).then(a.cmp(b)));
    let mut out: Vec<i128> = parts.iter().map(|p| p.0).collect();
    for index in order.into_iter().take(usize::try_from(left).unwrap_or(0)) {
        out[index] += 1;
    }
    Some(out.into_iter().map(|units| Money(amount.0.signum() * units)).collect())
}

/// `amount x weight / whole` as quotient and remainder, for `0 <= weight <= whole`.
///
/// The product does not fit in 128 bits: long division, bit by bit.
fn mul_div(amount: u128, weight: i128, whole: i128) -> (i128, i128) {
    let (mut quotient, mut remainder) = (0_i128, 0_i128);
    for bit in (0..u128::BITS - amount.leading_zeros()).rev() {
        quotient *= 2;
        remainder *= 2;
        if amount >> bit & 1 == 1 {
            remainder += weight;
        }
        quotient += remainder / whole;
        remainder %= whole;
    }
    (quotient, remainder)
}

fn round_half_even(value: i128, step: i128) -> i128 {
    let quotient = value.div_euclid(step);
    let twice = 2 * value.rem_euclid(step);
    let up = twice > step || (twice == step && quotient % 2 != 0);
    quotient + i128::from(up)
}

fn write_fixed(scaled: i128, digits: u32) -> String {
    let unit = 10_u128.pow(digits);
    let magnitude = scaled.unsigned_abs();
    let sign = if scaled < 0 { "-" } else { "" };
    if digits == 0 {
        return format!("{sign}{magnitude}");
    }
    let (whole, fraction) = (magnitude / unit, magnitude % unit);
    format!("{sign}{whole}.{fraction:0width$}", width = digits as usize)
}

/// All digits that carry something, at least two.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.full();
        let keep = text.trim_end_matches('0').len();
        let point = text.find('.').unwrap_or(text.len());
        f.pad(&text[..keep.max(point + 3).min(text.len())])
    }
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Money {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Money {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Money {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl<'a> Sum<&'a Self> for Money {
    fn sum<I: Iterator<Item = &'a Self>>(items: I) -> Self {
        items.copied().sum()
    }
}

/// JSON has no exact decimal: billed money is a decimal string everywhere.
impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let read = match Self::parse(&text) {
            // No charge is so large, but a sum of charges may be.
            Err(NumberError::TooLarge) => Self::read_sum(&text).ok_or(NumberError::TooLarge),
            read => read,
        };
        read.map_err(serde::de::Error::custom)
    }
}

impl Money {
    /// Reads a sum as it is written here: a sign, digits, at most twelve after the point.
    fn read_sum(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let short = (MONEY_DIGITS as usize).checked_sub(fraction.len())?;
        format!("{whole}{fraction}{}", "0".repeat(short)).parse().ok().map(Self)
    }
}

/// Why a text is not a number that a bill may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// Nothing there.
    #[error("is empty")]
    Empty,
    /// A comma, a currency sign, a letter.
    #[error("is not a decimal number (digits, one point, E notation; no thousands separator, no currency sign)")]
    NotANumber,
    /// More fraction digits than an exact sum can keep.
    #[error("has more than {EXACT_DIGITS} fraction digits")]
    TooPrecise,
    /// Larger than any charge.
    #[error("is larger than 10^15, which no charge is")]
    TooLarge,
}

/// A decimal as the file wrote it: stored money plus what the twelve digits could not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decimal {
    /// Rounded half to even to twelve digits.
    pub money: Money,
    /// The text minus `money`, in 10^-38.
    pub residual: i128,
    /// Fraction digits that the text had.
    pub digits: u8,
}

impl Decimal {
    /// Reads FOCUS NumericFormat: sign, digits, point, exponent. No separators, no currency.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let short = text.strip_prefix('-').unwrap_or(text);
        if let Some(digits) = Digits::read_short(short.as_bytes()) {
            return Ok(digits.into_decimal(short.len() < text.len()));
        }
        let text = text.trim();
        let (negative, body) = match text.as_bytes().first() {
            None => return Err(NumberError::Empty),
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            Some(_) => (false, text),
        };
        let (mantissa, exponent) = split_exponent(body)?;
        let digits = Digits::read(mantissa, exponent)?;
        Ok(digits.into_decimal(negative))
    }
}

fn split_exponent(body: &str) -> Result<(&str, i32), NumberError> {
    let Some(at) = body.find(['e', 'E']) else {
        return Ok((body, 0));
    };
    let exponent: i32 = body[at + 1..].parse().map_err(|_| NumberError::NotANumber)?;
    if exponent.unsigned_abs() > 99 {
        return Err(if exponent < 0 {
            NumberError::TooPrecise
        } else {
            NumberError::TooLarge
        });
    }
    Ok((&body[..at], exponent))
}

/// The digits of a decimal, split at 10^-12: `stored` in 10^-12, `tail` in 10^-38.
struct Digits {
    stored: i128,
    tail: i128,
    fraction: u8,
}

impl Digits {
    /// Plain numbers with few digits, as most are; none = it is not so simple.
    fn read_short(body: &[u8]) -> Option<Self> {
        let point = body.iter().position(|b| *b == b'.').unwrap_or(body.len());
        let fraction = body.len().saturating_sub(point + 1);
        let digits = point + fraction;
        if digits == 0 || digits > 18 || point > 15 || fraction > MONEY_DIGITS as usize {
            return None;
        }
        let mut value = 0_u64;
        for byte in body[..point].iter().chain(body.get(point + 1..).unwrap_or_default()) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        Some(Self {
            stored: i128::from(value) * 10_i128.pow(MONEY_DIGITS - fraction as u32),
            tail: 0,
            fraction: fraction as u8,
        })
    }

    fn read(mantissa: &str, exponent: i32) -> Result<Self, NumberError> {
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(NumberError::NotANumber);
        }
        let mut out = Self {
            stored: 0,
            tail: 0,
            fraction: 0,
        };
        // The power of ten of the first digit; a digit at power p counts digit x 10^p.
        let mut power = whole.len() as i32 - 1 + exponent;
        for byte in whole.bytes().chain(fraction.bytes()) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return Err(NumberError::NotANumber);
            }
            out.put(i128::from(digit), power)?;
            power -= 1;
        }
        let written = fraction.len() as i32 - exponent;
        out.fraction = written.clamp(0, EXACT_DIGITS as i32) as u8;
        Ok(out)
    }

    fn put(&mut self, digit: i128, power: i32) -> Result<(), NumberError> {
        if digit == 0 {
            return Ok(());
        }
        let at = power + MONEY_DIGITS as i32;
        if power > 15 {
            return Err(NumberError::TooLarge);
        }
        if at >= 0 {
            self.stored += digit * 10_i128.pow(at as u32);
        } else {
            let below = at + (EXACT_DIGITS - MONEY_DIGITS) as i32;
            let scale = u32::try_from(below).map_err(|_| NumberError::TooPrecise)?;
            self.tail += digit * 10_i128.pow(scale);
        }
        if self.stored > MAX_WHOLE * UNIT {
            return Err(NumberError::TooLarge);
        }
        Ok(())
    }

    fn into_decimal(self, negative: bool) -> Decimal {
        let half = RESIDUAL_UNIT / 2;
        let up = self.tail > half || (self.tail == half && self.stored % 2 != 0);
        let stored = self.stored + i128::from(up);
        let residual = self.tail - if up { RESIDUAL_UNIT } else { 0 };
        let sign = if negative { -1 } else { 1 };
        Decimal {
            money: Money(sign * stored),
            residual: sign * residual,
            digits: self.fraction,
        }
    }
}

/// The sum of a column exactly as its file wrote it: stored money plus the exact rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "ExactText", try_from = "ExactText")]
pub struct ExactSum {
    stored: Money,
    residual: i128,
    digits: u8,
}

impl ExactSum {
    /// Adds one value.
    pub fn add(&mut self, value: Decimal) {
        self.stored += value.money;
        self.residual += value.residual;
        self.digits = self.digits.max(value.digits);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Self) {
        self.stored += other.stored;
        self.residual += other.residual;
        self.digits = self.digits.max(other.digits);
    }

    /// What the store holds.
    pub const fn stored(&self) -> Money {
        self.stored
    }

    /// The file's own total, with as many fraction digits as its longest value.
    pub fn file_text(&self) -> String {
        let carry = self.residual.div_euclid(RESIDUAL_UNIT);
        let tail = self.residual.rem_euclid(RESIDUAL_UNIT);
        exact_text(self.stored.units() + carry, tail, self.digits)
    }

    /// File total minus stored total, with as many fraction digits as the file's longest value.
    pub fn residual_text(&self) -> String {
        let carry = self.residual.div_euclid(RESIDUAL_UNIT);
        exact_text(carry, self.residual.rem_euclid(RESIDUAL_UNIT), self.digits)
    }

    /// Is there nothing beyond the twelve stored digits?
    pub const fn is_exact(&self) -> bool {
        self.residual == 0
    }
}

/// `units` in 10^-12 plus `tail` (0 <= tail < 1 unit) in 10^-38, with `digits` fraction digits.
fn exact_text(units: i128, tail: i128, digits: u8) -> String {
    let negative = units < 0;
    // Work on the magnitude: -1 unit + tail = -(0 units + (1 unit - tail)).
    let (units, tail) = match (negative, tail) {
        (true, 0) => (-units, 0),
        (true, t) => (-units - 1, RESIDUAL_UNIT - t),
        (false, t) => (units, t),
    };
    let whole = units / UNIT;
    let fraction = format!(
        "{:0head$}{:0rest$}",
        units % UNIT,
        tail,
        head = MONEY_DIGITS as usize,
        rest = (EXACT_DIGITS - MONEY_DIGITS) as usize
    );
    let sign = if negative { "-" } else { "" };
    let needed = fraction.trim_end_matches('0').len();
    match usize::from(digits).max(needed) {
        0 => format!("{sign}{whole}"),
        keep => format!("{sign}{whole}.{}", &fraction[..keep]),
    }
}

/// How an [`ExactSum`] is kept in a manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ExactText {
    stored: Money,
    residual: String,
    digits: u8,
}

impl From<ExactSum> for ExactText {
    fn from(sum: ExactSum) -> Self {
        Self {
            stored: sum.stored,
            residual: sum.residual.to_string(),
            digits: sum.digits,
        }
    }
}

impl TryFrom<ExactText> for ExactSum {
    type Error = std::num::ParseIntError;
    fn try_from(text: ExactText) -> Result<Self, Self::Error> {
        Ok(Self {
            stored: text.stored,
            residual: text.residual.parse()?,
            digits: text.digits,
        })
    }
}

/// Forecast money. There is no sum of an estimate and [`Money`]: one is known, the other is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Estimate(f64);

impl Estimate {
    /// Nothing.
    pub const ZERO: Self = Self(0.0);

    /// From an amount in the dataset's currency.
    pub const fn new(amount: f64) -> Self {
        Self(amount)
    }

    /// In the dataset's currency.
    pub const fn amount(self) -> f64 {
        self.0
    }

    /// With exactly `digits` fraction digits and separators of thousands: for people.
    pub fn grouped(self, digits: usize) -> String {
        grouped(&format!("{:.digits$}", self.0))
    }

    /// Rounded to 10^-6, as everything that enters a plan: float functions differ in the last bits between platforms.
    #[must_use]
    pub fn rounded(self) -> Self {
        let rounded = (self.0 * 1e6).round() / 1e6;
        Self(if rounded == 0.0 { 0.0 } else { rounded })
    }

    /// Times a plain factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

impl Add for Estimate {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Estimate {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl AddAssign for Estimate {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for Estimate {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.rounded().0)
    }
}

impl<'de> Deserialize<'de> for Estimate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self)
    }
}

/// An estimate with its band: one in ten lies below `p10`, one in ten above `p90`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Low end.
    pub p10: Estimate,
    /// Middle.
    pub p50: Estimate,
    /// High end.
    pub p90: Estimate,
}

impl Range {
    /// No doubt: all three are the same.
    pub const fn exactly(amount: Estimate) -> Self {
        Self {
            p10: amount,
            p50: amount,
            p90: amount,
        }
    }

    /// Times a plain factor that is not negative.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            p10: self.p10.scaled(factor),
            p50: self.p50.scaled(factor),
            p90: self.p90.scaled(factor),
        }
    }

    /// Each end as it enters a plan.
    #[must_use]
    pub fn rounded(self) -> Self {
        Self {
            p10: self.p10.rounded(),
            p50: self.p50.rounded(),
            p90: self.p90.rounded(),
        }
    }
}

impl Add for Range {
    type Output = Self;
    /// Ends add to ends: the wide, careful sum, which treats the parts as moving together.
    fn add(self, other: Self) -> Self {
        Self {
            p10: self.p10 + other.p10,
            p50: self.p50 + other.p50,
            p90: self.p90 + other.p90,
        }
    }
}

/// Puts separators into the whole part of a plain decimal.
pub fn grouped(decimal: &str) -> String {
    let start = usize::from(decimal.starts_with('-'));
    let end = decimal.find('.').unwrap_or(decimal.len());
    let mut out = String::with_capacity(decimal.len() + decimal.len() / 3);
    for (at, c) in decimal.char_indices() {
        if at > start && at < end && (end - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(values: &[&str]) -> ExactSum {
        let mut sum = ExactSum::default();
        for v in values {
            sum.add(Decimal::parse(v).unwrap());
        }
        sum
    }

    #[test]
    fn a_sum_larger_than_any_charge_is_read_back() {
        for units in [i128::MAX, i128::MIN, 10_i128.pow(27) + 1, -10_i128.pow(30)] {
            let money = Money::from_units(units);
            let text = serde_json::to_string(&money).unwrap();
            assert_eq!(serde_json::from_str::<Money>(&text).unwrap(), money, "{text}");
        }
        for wrong in ["1e40", "9".repeat(40).as_str(), "1000000000000000000.0000000000001"] {
            assert!(
                serde_json::from_str::<Money>(&format!("\"{wrong}\"")).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn reads_what_focus_allows() {
        assert_eq!(Money::parse("35.2E-7").unwrap().full(), "0.000003520000");
        assert_eq!(Money::parse("-2E1").unwrap().full(), "-20.000000000000");
        assert_eq!(Money::parse(".5").unwrap().to_string(), "0.50");
        assert_eq!(Money::parse("1.81E-8").unwrap().to_string(), "0.0000000181");
        assert_eq!(Money::parse("1,234.5"), Err(NumberError::NotANumber));
        assert_eq!(Money::parse("$3"), Err(NumberError::NotANumber));
        assert_eq!(Money::parse("."), Err(NumberError::NotANumber));
        assert_eq!(Money::parse("NaN"), Err(NumberError::NotANumber));
        assert_eq!(Money::parse(""), Err(NumberError::Empty));
        assert_eq!(Money::parse("1e16"), Err(NumberError::TooLarge));
        assert_eq!(Money::parse("1e-39"), Err(NumberError::TooPrecise));
        assert_eq!(Money::parse("0e-90").unwrap(), Money::ZERO);
    }

    #[test]
    fn rounds_half_to_even_and_keeps_the_rest() {
        let d = Decimal::parse("1.1234567890125").unwrap();
        assert_eq!(d.money.full(), "1.123456789012");
        let d = Decimal::parse("1.1234567890135").unwrap();
        assert_eq!(d.money.full(), "1.123456789014");
        let s = sum(&["0.0000000000005", "0.0000000000005"]);
        assert_eq!(
            (s.stored().full().as_str(), s.file_text().as_str()),
            ("0.000000000000", "0.0000000000010")
        );
        assert_eq!(sum(&["-0.0000000000007"]).file_text(), "-0.0000000000007");
        assert_eq!(sum(&["-0.0000000000007"]).residual_text(), "0.0000000000003");
    }

    #[test]
    fn prints_as_many_digits_as_the_file_had() {
        assert_eq!(sum(&["2.50", "1.5"]).file_text(), "4.00");
        assert_eq!(sum(&["1", "2"]).file_text(), "3");
    }

    #[test]
    fn fixed_rounds_half_to_even() {
        assert_eq!(Money::parse("2.665").unwrap().fixed(2), "2.66");
        assert_eq!(Money::parse("-2.665").unwrap().fixed(2), "-2.66");
        assert_eq!(Money::parse("-0.001").unwrap().fixed(2), "0.00");
    }

    proptest! {
        /// The exact sum equals big-integer arithmetic on the digits, and does not depend on order.
        #[test]
        fn sums_are_exact(values in prop::collection::vec((any::<i64>(), 0_u32..=26), 1..40)) {
            let texts: Vec<String> = values.iter().map(|(v, s)| {
                let v = i128::from(*v % 1_000_000_007);
                write_fixed(v, *s)
            }).collect();
            let want: i128 = values.iter().map(|(v, s)| i128::from(*v % 1_000_000_007) * 10_i128.pow(26 - s)).sum();
            let mut forward = ExactSum::default();
            let mut backward = ExactSum::default();
            for t in &texts { forward.add(Decimal::parse(t).unwrap()); }
            for t in texts.iter().rev() { backward.add(Decimal::parse(t).unwrap()); }
            prop_assert_eq!(forward, backward);
            let got = forward.file_text();
            let (whole, fraction) = got.split_once('.').unwrap_or((&got, ""));
            let scaled: i128 = format!("{whole}{fraction:0<26}").parse().unwrap();
            prop_assert_eq!(scaled, want);
        }

        /// Parts sum to the amount, none is further than one unit from its exact share, zero weights get nothing.
        #[test]
        fn splits_are_exact(amount in -10_i128.pow(24)..10_i128.pow(24), weights in prop::collection::vec(0_i128..10_i128.pow(6), 1..12)) {
            let weights: Vec<Money> = weights.into_iter().map(Money).collect();
            let whole: i128 = weights.iter().map(|w| w.0).sum();
            let Some(parts) = split_by_weight(Money(amount), &weights) else {
                prop_assert_eq!(whole, 0);
                return Ok(());
            };
            prop_assert_eq!(parts.iter().sum::<Money>(), Money(amount));
            for (part, weight) in parts.iter().zip(&weights).filter(|_| whole > 0) {
                prop_assert!((part.0 * whole - amount * weight.0).abs() <= whole, "{:?} of {:?}", part, weight);
                prop_assert!(weight.0 > 0 || part.0 == 0);
            }
        }

        /// Any text ends in a value or an error, never in a panic.
        /// The short way reads what the long way reads, or leaves it to it.
        #[test]
        fn short_numbers_are_read_the_same(text in "[0-9]{0,17}[.]?[0-9]{0,14}") {
            if let Some(short) = Digits::read_short(text.as_bytes()) {
                let long = Digits::read(&text, 0).unwrap();
                prop_assert_eq!(short.into_decimal(true), long.into_decimal(true));
            }
        }

        #[test]
        fn never_panics(text in "[-+0-9.eE, $a]{0,60}") {
            let _ = Decimal::parse(&text);
        }

        #[test]
        fn display_and_parse_are_inverse(units in -10_i128.pow(26)..10_i128.pow(26)) {
            let money = Money::from_units(units);
            prop_assert_eq!(Money::parse(&money.to_string()).unwrap(), money);
        }
    }

    #[test]
    fn separators_stay_out_of_the_fraction() {
        assert_eq!(grouped("4829.331368897859170"), "4,829.331368897859170");
        assert_eq!(grouped("123"), "123");
        assert_eq!(Money::whole(61_214).grouped(2), "61,214.00");
        assert_eq!(Estimate::new(-2972.4).grouped(0), "-2,972");
        assert_eq!(grouped("-123456"), "-123,456");
    }
}
