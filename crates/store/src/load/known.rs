//! Files that the store has already: the same file twice changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::finish::report;
use super::listing::{Listed, Listing};
use super::{Existing, LoadRequest, UnitReport};
use crate::error::StoreError;
use crate::input::Input;
use crate::layout::{BillUnit, Manifest};

/// A compressed file that a store of an older version holds is known there by the hash of its bytes as they lie, not of
/// their content: it goes by that name, so that it counts once here as well.
pub(crate) fn recall(listing: &mut Listing, manifest: &Manifest) -> Result<(), StoreError> {
    let recorded: BTreeSet<&String> = manifest.bills.values().flat_map(|unit| &unit.inputs).collect();
    if recorded.is_empty() {
        return Ok(());
    }
    for file in listing.bills.iter_mut().filter(|file| !recorded.contains(&file.sha256)) {
        if let Some(as_stored) = Input::sha256_as_stored(&file.path)?.filter(|hash| recorded.contains(hash)) {
            file.sha256 = as_stored;
        }
    }
    Ok(())
}

/// Takes bills out of the listing that would change nothing, and reports the units that hold them.
pub(crate) fn take(listing: &mut Listing, manifest: &Manifest, request: &LoadRequest) -> Vec<UnitReport> {
    let given: BTreeSet<String> = listing.bills.iter().map(|file| file.sha256.clone()).collect();
    let of_source = |unit: &&BillUnit| request.source.as_ref().is_none_or(|source| *source == unit.source);
    let units: Vec<&BillUnit> = manifest
        .bills
        .values()
        .filter(of_source)
        .filter(|unit| unit.inputs.iter().any(|input| given.contains(input)))
        .collect();
    let loaded: BTreeSet<&String> = units.iter().flat_map(|unit| &unit.inputs).collect();
    match request.existing {
        Existing::Append => {
            let (there, new): (Vec<Listed>, Vec<Listed>) = std::mem::take(&mut listing.bills)
                .into_iter()
                .partition(|file| loaded.contains(&file.sha256));
            listing.bills = new;
            let told = there
                .iter()
                .map(|file| format!("{} was loaded before: not added again", file.path.display()));
            listing.warnings.extend(told);
        }
        // A month is what all its files say: it is the same only if they are.
        Existing::Guarded if loaded.iter().copied().eq(&given) => listing.bills.clear(),
        Existing::Guarded | Existing::Replace => return Vec::new(),
    }
    if listing.bills.is_empty() {
        units.into_iter().map(report).collect()
    } else {
        Vec::new()
    }
}

/// Refuses a file that the store held under another source before: its money would count twice.
pub(crate) fn refuse_second_source(before: &BTreeMap<String, BillUnit>, made: &BillUnit) -> Result<(), StoreError> {
    let inputs: BTreeSet<&String> = made.inputs.iter().collect();
    let holds = |unit: &&BillUnit| unit.inputs.iter().any(|input| inputs.contains(input));
    let sources: BTreeSet<&String> = before.values().filter(holds).map(|unit| &unit.source).collect();
    // A file with charges of several providers has several sources of its own.
    let Some(other) = sources.first().filter(|_| !sources.contains(&made.source)) else {
        return Ok(());
    };
    Err(StoreError::Refused {
        what: format!(
            "a file of this load is in the store as source `{other}`; as source `{}` its money would count twice",
            made.source
        ),
        hint: "load it as it was loaded the first time: with the same `--source`, or without".into(),
    })
}
