//! Why a file that looks like FOCUS is not read: another dataset of it, or columns that are not there.

use lowwater_model::change::edits;

use super::{COSTS, PERIOD, focus_id};
use crate::error::InputError;
use crate::format::Head;

/// Columns that FOCUS has from which on a header looks like it.
const LOOKS_LIKE: usize = 3;

/// The datasets beside Cost and Usage, by a column that only they have.
const OTHER_DATASETS: &[(&str, &str)] = &[
    ("contractcommitmentid", "Contract Commitment"),
    ("invoicedetailid", "Invoice Detail"),
    ("billingperiodstatus", "Billing Period"),
];

/// Why a file with this beginning is no bill, if it looks like one.
pub(crate) fn why_not(head: &Head<'_>, file: &str) -> Option<InputError> {
    let header: Vec<String> = if let Some(columns) = head.parquet_columns {
        columns.to_vec()
    } else {
        let names = head.first_line().split([',', ';', '\t']);
        names.map(|name| name.trim().trim_matches('"').to_owned()).collect()
    };
    let known = header.iter().filter(|name| focus_id(name).is_some()).count();
    let other = OTHER_DATASETS.iter().any(|(column, _)| has(&header, column));
    (known >= LOOKS_LIKE || other).then(|| absent(&header, file)).flatten()
}

/// What a header lacks to be that of a bill: all of it at once.
pub(crate) fn absent(header: &[String], file: &str) -> Option<InputError> {
    let has_focus = |wanted: &str| header.iter().any(|name| focus_id(name) == Some(wanted));
    let period = has_focus(PERIOD);
    let cost = COSTS.iter().any(|cost| has_focus(cost));
    if period && cost {
        return None;
    }
    let dataset = OTHER_DATASETS.iter().find(|(column, _)| has(header, column));
    if let Some((_, dataset)) = dataset.filter(|_| !period) {
        let error = InputError::new(file, format!("is FOCUS {dataset}, not Cost and Usage: it is not read yet"));
        return Some(error.hint("load the Cost and Usage export; it names commitments, invoices and billing periods too"));
    }
    let mut missing = Vec::new();
    if !period {
        missing.push(format!("{PERIOD}{}", nearest(&[PERIOD], header)));
    }
    if !cost {
        missing.push(format!("one of {}{}", COSTS.join(" and "), nearest(COSTS, header)));
    }
    let error = InputError::new(file, format!("is no FOCUS Cost and Usage: the header lacks {}", missing.join(", and ")));
    Some(error.hint("rename the columns, or export the bill as FOCUS: docs/reference/formats.md says which columns count"))
}

fn has(header: &[String], letters: &str) -> bool {
    header.iter().any(|name| plain(name) == letters)
}

fn plain(name: &str) -> String {
    name.replace([' ', '_'], "").to_ascii_lowercase()
}

/// The column that may be meant: at most a third of its letters differ, and it has no meaning of its own.
fn nearest(wanted: &[&str], header: &[String]) -> String {
    let others = header.iter().filter(|name| focus_id(name).is_none());
    let pairs = others.flat_map(|name| wanted.iter().map(move |wanted| (edits(&plain(name), &plain(wanted)), name, wanted)));
    let near = pairs.filter(|(edits, _, wanted)| edits * 3 <= wanted.len()).min();
    near.map_or_else(String::new, |(_, name, _)| format!(" (nearest: `{name}`)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(header: &str) -> Option<String> {
        let head = Head {
            name: "bill.csv",
            bytes: header.as_bytes(),
            parquet_columns: None,
        };
        why_not(&head, "bill.csv").map(|error| error.to_string())
    }

    #[test]
    fn columns_that_are_not_there_are_named_at_once() {
        let text = said("BillingAccountId,ServiceName,Region Id,ChargePeriodBegin,BiledCost\n").unwrap();
        assert!(
            text.contains(
                "lacks ChargePeriodStart (nearest: `ChargePeriodBegin`), and one of BilledCost and EffectiveCost \
                 (nearest: `BiledCost`)"
            ),
            "{text}"
        );
        let text = said("BillingAccountId,ServiceName,Tags,ChargePeriodStart,Money\n").unwrap();
        assert!(text.contains("lacks one of BilledCost and EffectiveCost\nhint: "), "{text}");
        assert_eq!(said("time,host,gpu\n"), None, "does not look like FOCUS");
        assert_eq!(said("ChargePeriodStart,BilledCost,Tags,InvoiceDetailId\n"), None, "is a bill of FOCUS 1.4");
    }

    #[test]
    fn other_datasets_of_focus_are_called_by_name() {
        let dir = std::env::var("LOWWATER_SHARED").unwrap_or_else(|_| format!("{}/../../../shared", env!("CARGO_MANIFEST_DIR")));
        let path = std::path::Path::new(&dir).join("data/billing/focus/focus_1.4_other_datasets_columns.csv");
        let Ok(text) = std::fs::read_to_string(&path) else {
            assert!(std::env::var("CI").is_err(), "{path:?} is needed");
            eprintln!("skipped: {path:?} (no shared data)");
            return;
        };
        for dataset in ["Contract Commitment", "Invoice Detail", "Billing Period"] {
            let lines = text.lines().filter_map(|line| line.strip_prefix(dataset)?.strip_prefix(','));
            let columns: Vec<&str> = lines.filter_map(|line| line.split(',').next()).collect();
            assert!(columns.len() > 5, "{dataset}: {columns:?}");
            let said = said(&columns.join(",")).unwrap();
            assert!(said.contains(&format!("is FOCUS {dataset}, not Cost and Usage")), "{said}");
        }
    }
}
