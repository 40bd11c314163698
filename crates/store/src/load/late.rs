//! Charges that were written before their resource was seen with a GPU: they are read again for the GPU cube.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;

use super::Reject;
use super::bill::{Bills, UNKNOWN, append};
use super::check::Checker;
use super::chunk::Chunk;
use super::cube::{Charges, GPU_HOURS};
use super::derive::Derived;
use super::flush::write_cube;
use crate::error::StoreError;
use crate::format::{BillSink, Decode, focus};
use crate::input::Input;
use crate::schema;

/// Takes the charges of some resources.
struct Chosen<'a> {
    resources: &'a BTreeSet<String>,
    at: Option<usize>,
    checker: Checker,
    targets: Vec<Option<usize>>,
    chunk: Chunk,
}

impl BillSink for Chosen<'_> {
    fn columns(&mut self, names: &[String]) -> Result<(), StoreError> {
        self.checker.columns(names);
        self.at = names.iter().position(|name| name == "ResourceId");
        let is_made = |name: &String| schema::ADDED.iter().any(|c| c.name == name);
        let place = |name: &String| (!is_made(name)).then(|| self.chunk.place(name));
        self.targets = names.iter().map(place).collect();
        Ok(())
    }

    fn row(&mut self, _number: u64, fields: &[Option<&str>]) -> Result<(), StoreError> {
        let resource = self.at.and_then(|at| fields[at]);
        let chosen = resource.is_some_and(|resource| self.resources.contains(resource));
        if chosen && self.checker.check(fields).is_ok() {
            append(&mut self.chunk, fields, &self.targets, &self.checker.values, 0);
        }
        Ok(())
    }

    fn reject(&mut self, _reject: Reject) {}

    fn warn(&mut self, _warning: String) {}
}

/// Completes the GPU cube of every unit.
pub(crate) fn complete(bills: &mut Bills<'_>) -> Result<(), StoreError> {
    let Decode::Bill(decode) = focus::FORMAT.decode else {
        return Ok(());
    };
    let provider = bills.request.provider.as_deref().unwrap_or(UNKNOWN);
    for unit in bills.units.iter_mut() {
        for (file, resources) in unit.late() {
            let mut chosen = Chosen {
                resources: &resources,
                at: None,
                checker: Checker::new(TimeZone::UTC, true),
                targets: Vec::new(),
                chunk: Chunk::new(),
            };
            let path = bills.transaction.staged_path(&file);
            decode(&mut Input::open(&path)?, &mut chosen)?;
            let derived = Derived::of(&chosen.chunk, provider);
            let charges = Charges {
                chunk: &chosen.chunk,
                derived: &derived,
            };
            let rows: Vec<u32> = (0..chosen.chunk.rows() as u32).collect();
            if !rows.is_empty() {
                write_cube(
                    GPU_HOURS,
                    charges,
                    &GPU_HOURS.sum(charges, &rows),
                    unit,
                    bills.transaction,
                )?;
            }
        }
    }
    Ok(())
}
