//! What an address asks for: its path and its words, and how to ask for something a little different.

use std::collections::BTreeMap;

use jiff::civil::Date;
use lowwater_model::charge::CostMetric;
use lowwater_store::report::Dimension;

use super::asker::Asker;
use super::days::{all_periods, is_period};
use crate::error::AppError;

/// Words of an address that are read; a longer one asks for nothing.
const MAX_WORDS: usize = 64;
/// Characters of one of them.
const MAX_WORD: usize = 512;

/// The path and the words of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Path, such as `/explore`.
    pub path: String,
    words: Vec<(String, String)>,
    /// Who asks.
    pub asker: Asker,
}

impl Asked {
    /// Of a request.
    pub fn new(path: &str, words: Vec<(String, String)>) -> Self {
        let fits = |(key, value): &(String, String)| key.len() <= MAX_WORD && value.len() <= MAX_WORD;
        Self {
            path: path.to_owned(),
            words: words.into_iter().filter(fits).take(MAX_WORDS).collect(),
            asker: Asker::default(),
        }
    }

    /// The same of somebody.
    #[must_use]
    pub fn asked_by(self, asker: Asker) -> Self {
        Self { asker, ..self }
    }

    /// Words that hold for every page must mean something: an answer to another question would mislead.
    pub fn check(&self) -> Result<(), AppError> {
        let wrong = |key: &str, value: &str, hint: String| {
            let value = crate::amount::shortened(value, crate::amount::ECHO);
            Err(AppError::Usage(format!(
                "`{key}={value}` in the address says nothing\nhint: {hint}"
            )))
        };
        let names = |names: Vec<&str>| format!("write one of {}", names.join(", "));
        if let Some(period) = self.get("period").filter(|period| !is_period(period)) {
            return wrong("period", period, names(all_periods().collect()));
        }
        for key in ["from", "to"] {
            if let Some(day) = self.get(key).filter(|day| day.parse::<Date>().is_err()) {
                return wrong(key, day, "write a day such as 2026-10-31".into());
            }
        }
        let day = |key: &str| self.get(key).and_then(|day| day.parse::<Date>().ok());
        match (day("from"), day("to")) {
            (Some(from), Some(to)) if from >= to => {
                return wrong(
                    "to",
                    &to.to_string(),
                    format!("it is the first day after, so later than {from}"),
                );
            }
            (Some(_), None) => return wrong("to", "", "give the first day after as well".into()),
            (None, Some(_)) => return wrong("from", "", "give the first day as well".into()),
            _ => {}
        }
        if let Some(metric) = self.get("metric").filter(|metric| CostMetric::parse(metric).is_none()) {
            return wrong(
                "metric",
                metric,
                names(CostMetric::ALL.iter().map(|m| m.as_str()).collect()),
            );
        }
        let dimensions = || names(Dimension::ALL.iter().map(|d| d.as_str()).collect());
        let by: Vec<&str> = self.by_words().collect();
        if let Some(word) = by.iter().find(|word| Dimension::parse(word).is_none()) {
            return wrong("by", word, dimensions());
        }
        if by.len() > 2 {
            return wrong("by", &by.join(","), "one dimension, or two".into());
        }
        let only = self.all("only").into_iter();
        let mut unknown = only.filter(|word| {
            word.split_once(':')
                .is_none_or(|(name, _)| Dimension::parse(name).is_none())
        });
        match unknown.next() {
            Some(word) => wrong("only", word, format!("write DIMENSION:LABEL; {}", dimensions())),
            None => Ok(()),
        }
    }

    fn by_words(&self) -> impl Iterator<Item = &str> {
        // `by=a,b`, as on the command line, or `by=a&then=b`, as a form sends it.
        let words = self.get("by").into_iter().chain(self.get("then"));
        words.flat_map(|word| word.split(',')).filter(|word| !word.is_empty())
    }

    /// A word; none where it is not given or says nothing.
    pub fn get(&self, key: &str) -> Option<&str> {
        let mut found = self.words.iter().filter(|(k, v)| k == key && !v.is_empty());
        found.next().map(|(_, value)| value.as_str())
    }

    /// Every value of a word that may be given more than once.
    pub fn all(&self, key: &str) -> Vec<&str> {
        let found = self.words.iter().filter(|(k, v)| k == key && !v.is_empty());
        found.map(|(_, value)| value.as_str()).collect()
    }

    /// The same with one word set.
    #[must_use]
    pub fn with(&self, key: &str, value: &str) -> Self {
        let mut asked = self.without(key);
        asked.words.push((key.to_owned(), value.to_owned()));
        asked
    }

    /// The same without a word.
    #[must_use]
    pub fn without(&self, key: &str) -> Self {
        let mut asked = self.clone();
        asked.words.retain(|(k, _)| k != key);
        asked
    }

    /// The same with one more value of a word.
    #[must_use]
    pub fn and(&self, key: &str, value: &str) -> Self {
        let mut asked = self.without_value(key, value);
        asked.words.push((key.to_owned(), value.to_owned()));
        asked
    }

    /// The same without one value of a word.
    #[must_use]
    pub fn without_value(&self, key: &str, value: &str) -> Self {
        let mut asked = self.clone();
        asked.words.retain(|(k, v)| k != key || v != value);
        asked
    }

    /// On another page: only what holds for all pages is taken along.
    #[must_use]
    pub fn on(&self, path: &str) -> Self {
        let shared =
            |(key, _): &&(String, String)| ["period", "from", "to", "compare", "metric"].contains(&key.as_str());
        Self {
            path: path.to_owned(),
            words: self.words.iter().filter(shared).cloned().collect(),
            asker: self.asker.clone(),
        }
    }

    /// The address.
    pub fn url(&self) -> String {
        let mut url = self.path.clone();
        for (i, (key, value)) in self.words.iter().enumerate() {
            url.push(if i == 0 { '?' } else { '&' });
            url.push_str(&encoded(key));
            url.push('=');
            url.push_str(&encoded(value));
        }
        url
    }

    /// Every word, for a form that keeps them.
    pub fn words(&self) -> &[(String, String)] {
        &self.words
    }

    /// One or two dimensions; those of the page where none is named.
    pub fn by(&self, otherwise: Dimension) -> Vec<Dimension> {
        let named = self.by_words().filter_map(Dimension::parse);
        let mut by: Vec<Dimension> = Vec::new();
        for dimension in named {
            if !by.contains(&dimension) && by.len() < 2 {
                by.push(dimension);
            }
        }
        if by.is_empty() { vec![otherwise] } else { by }
    }

    /// The cost column that was asked for.
    pub fn metric(&self) -> Option<CostMetric> {
        self.get("metric").and_then(CostMetric::parse)
    }

    /// Filters: `only=team:vision`, one word a label; and what the asker may see, which no word widens.
    pub fn only(&self) -> BTreeMap<Dimension, Vec<String>> {
        let mut only: BTreeMap<Dimension, Vec<String>> = BTreeMap::new();
        for (dimension, label) in self.all("only").into_iter().filter_map(|word| word.split_once(':')) {
            if let Some(dimension) = Dimension::parse(dimension) {
                only.entry(dimension).or_default().push(label.to_owned());
            }
        }
        let scope = &self.asker.person.scope;
        for (dimension, seen) in [(Dimension::Team, &scope.teams), (Dimension::Account, &scope.accounts)] {
            if seen.is_empty() {
                continue;
            }
            let labels = only.entry(dimension).or_insert_with(|| seen.iter().cloned().collect());
            labels.retain(|label| seen.contains(label));
            if labels.is_empty() {
                // No label is empty: nothing is seen.
                labels.push(String::new());
            }
        }
        only
    }
}

/// A word as part of an address.
pub fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' | b',' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[(&str, &str)]) -> Asked {
        let words = words.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        Asked::new("/explore", words.collect())
    }

    #[test]
    fn an_address_is_what_was_asked() {
        let here = asked(&[("by", "team"), ("only", "team:a b&c")]);
        assert_eq!(here.url(), "/explore?by=team&only=team:a%20b%26c");
        assert_eq!(here.with("by", "sku").url(), "/explore?only=team:a%20b%26c&by=sku");
        assert_eq!(
            here.and("only", "sku:x").without_value("only", "team:a b&c").url(),
            "/explore?by=team&only=sku:x"
        );
        let elsewhere = here.with("period", "90d").on("/plan");
        assert_eq!(elsewhere.url(), "/plan?period=90d");
    }

    #[test]
    fn filters_and_dimensions_that_there_are_not_say_nothing() {
        let here = asked(&[
            ("by", "team,team,nonsense,sku,region"),
            ("only", "nonsense:x"),
            ("only", "team:a:b"),
        ]);
        assert_eq!(here.by(Dimension::Class), [Dimension::Team, Dimension::Sku]);
        assert_eq!(here.only(), [(Dimension::Team, vec!["a:b".to_owned()])].into());
        assert_eq!(asked(&[]).by(Dimension::Class), [Dimension::Class]);
    }

    #[test]
    fn words_that_mean_nothing_are_refused() {
        for good in [
            &[][..],
            &[("period", "custom"), ("from", "2026-10-01"), ("to", "2026-10-02")],
            &[
                ("by", "team,sku"),
                ("only", "team:a:b"),
                ("metric", "billed"),
                ("period", "fiscal-year"),
            ],
            &[("by", "team"), ("then", ""), ("step", "x")],
        ] {
            assert!(asked(good).check().is_ok(), "{good:?}");
        }
        for (bad, why) in [
            (&[("from", "2026-99-99"), ("to", "2026-10-02")][..], "`from=2026-99-99`"),
            (&[("from", "2026-10-02"), ("to", "2026-10-02")], "later than 2026-10-02"),
            (&[("from", "2026-10-02")], "as well"),
            (&[("to", "2026-10-02")], "as well"),
            (&[("period", "8d")], "write one of 7d, 30d"),
            (&[("metric", "<b>")], "write one of billed, effective"),
            (&[("by", "team,nonsense")], "`by=nonsense`"),
            (&[("by", "team,sku"), ("then", "class")], "one dimension, or two"),
            (&[("only", "team")], "DIMENSION:LABEL"),
            (&[("only", "x:team")], "DIMENSION:LABEL"),
        ] {
            let error = asked(bad).check().unwrap_err();
            let text = error.message().unwrap();
            assert!(error.exit_code() == 2 && text.contains(why), "{bad:?}: {text}");
        }
    }

    #[test]
    fn no_word_widens_what_somebody_sees() {
        let scope = lowwater_store::state::Scope {
            teams: ["a".to_owned(), "b".to_owned()].into(),
            accounts: ["1".to_owned()].into(),
        };
        let person = lowwater_store::state::Person {
            scope,
            ..Default::default()
        };
        let only = |words: &[(&str, &str)]| {
            let asker = Asker {
                person: person.clone(),
                ..Asker::default()
            };
            asked(words).asked_by(asker).only()
        };
        let (team, account) = (Dimension::Team, Dimension::Account);
        let labels = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            only(&[]),
            [(team, labels(&["a", "b"])), (account, labels(&["1"]))].into()
        );
        assert_eq!(only(&[("only", "team:b"), ("only", "team:c")])[&team], labels(&["b"]));
        assert_eq!(only(&[("only", "team:c")])[&team], labels(&[""]));
        assert_eq!(only(&[("only", "sku:x")]).len(), 3);
    }

    #[test]
    fn a_book_asks_for_nothing() {
        let book = "x".repeat(100_000);
        assert_eq!(asked(&[("by", &book)]).get("by"), None);
        let many: Vec<(&str, &str)> = vec![("only", "team:a"); 10_000];
        assert_eq!(asked(&many).all("only").len(), MAX_WORDS);
    }
}
