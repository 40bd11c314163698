//! A chunk becomes files: sorted charges, the day cube and the GPU cube of each unit, reconciled with each other.

use std::collections::BTreeSet;

use super::column::{Column, Text};
use super::cube::{Charges, Cube, DAILY, GPU_HOURS, ROWS, Summed, costs};
use super::dictionary::NONE;
use super::units::{Unit, Units};
use super::write::{Output, Values, write as write_file};
use crate::error::StoreError;
use crate::layout::{Staged, Transaction};
use crate::schema::{self, Kind};

/// After the unit: what is asked for together lies together.
const SORTED_BY: [&str; 7] = [
    "x_Day",
    "x_GpuType",
    "x_Sku",
    "RegionId",
    "SubAccountId",
    "ResourceId",
    "ChargePeriodStart",
];

/// Writes a chunk. Returns the names of the files' own columns that hold anything.
pub(crate) fn write(
    charges: Charges<'_>,
    units: &mut Units,
    transaction: &mut Transaction,
) -> Result<BTreeSet<String>, StoreError> {
    let extra: BTreeSet<String> = charges
        .chunk
        .extra()
        .iter()
        .filter(|name| charges.chunk.text(name).is_some_and(|text| text.dictionary.len() > 0))
        .cloned()
        .collect();
    let order = order(charges, units);
    for rows in order.chunk_by(|a, b| charges.chunk.units[*a as usize] == charges.chunk.units[*b as usize]) {
        let unit = units.get_mut(charges.chunk.units[rows[0] as usize] as usize);
        write_unit(charges, &extra, rows, unit, transaction)?;
    }
    Ok(extra)
}

fn write_unit(
    charges: Charges<'_>,
    extra: &BTreeSet<String>,
    rows: &[u32],
    unit: &mut Unit,
    transaction: &mut Transaction,
) -> Result<(), StoreError> {
    let staged = stage("charges", unit, transaction)?;
    let fixed = schema::FOCUS.iter().chain(schema::ADDED).map(|c| Output {
        name: c.name,
        kind: c.kind,
        values: of_unit(c.name, unit).unwrap_or_else(|| from(charges.find(c.name), rows)),
    });
    let own = extra.iter().map(|name| Output {
        name,
        kind: Kind::Text,
        values: from(charges.chunk.find(name), rows),
    });
    write_file(&staged.path, &fixed.chain(own).collect::<Vec<_>>(), rows.len())?;

    let daily = DAILY.sum(charges, rows);
    let gpu_rows = gpu_rows(charges, rows, unit);
    let gpu_hours = GPU_HOURS.sum(charges, &gpu_rows);
    reconcile(charges, rows, &daily, &gpu_hours)?;
    unit.add_file("charges", staged.name);
    write_cube(DAILY, charges, &daily, unit, transaction)?;
    if !gpu_rows.is_empty() {
        write_cube(GPU_HOURS, charges, &gpu_hours, unit, transaction)?;
    }
    Ok(())
}

/// Writes a cube of a unit.
pub(crate) fn write_cube(
    cube: Cube,
    charges: Charges<'_>,
    summed: &Summed,
    unit: &mut Unit,
    transaction: &mut Transaction,
) -> Result<(), StoreError> {
    let staged = stage(cube.table, unit, transaction)?;
    let columns: Vec<Output<'_>> = cube
        .columns
        .iter()
        .map(|c| Output {
            name: c.name,
            kind: c.kind,
            values: match (of_unit(c.name, unit), summed.of_measure(c.name)) {
                (Some(constant), _) => constant,
                (None, Some(sums)) => Values::Sums(sums),
                (None, None) if c.name == ROWS => Values::Counts(&summed.rows),
                (None, None) => from(cube.source(charges, c.name), &summed.of),
            },
        })
        .collect();
    write_file(&staged.path, &columns, summed.of.len())?;
    unit.add_file(cube.table, staged.name);
    Ok(())
}

fn stage(table: &str, unit: &Unit, transaction: &mut Transaction) -> Result<Staged, StoreError> {
    let place = [
        ("source", unit.source.as_str()),
        ("account", unit.account.as_str()),
        ("month", unit.month.as_str()),
    ];
    transaction.stage(table, &place)
}

/// Columns that are the same in every row of a unit.
pub(crate) fn of_unit<'a>(name: &str, unit: &'a Unit) -> Option<Values<'a>> {
    match name {
        "x_Source" => Some(Values::Constant(&unit.source)),
        "x_Account" => Some(Values::Constant(&unit.account)),
        "x_Month" => Some(Values::Constant(&unit.month)),
        _ => None,
    }
}

fn from<'a>(column: Option<&'a Column>, rows: &'a [u32]) -> Values<'a> {
    column.map_or(Values::Null, |column| Values::Rows(column, rows))
}

/// Rows in the order in which they are stored.
fn order(charges: Charges<'_>, units: &Units) -> Vec<u32> {
    let unit_ranks = units.ranks();
    let columns: Vec<(&Column, Vec<u32>)> = SORTED_BY
        .iter()
        .filter_map(|name| charges.find(name))
        .map(|column| (column, column.ranks()))
        .collect();
    let mut keys: Vec<([u32; SORTED_BY.len() + 1], u32)> = (0..charges.chunk.rows() as u32)
        .map(|row| {
            let mut key = [0; SORTED_BY.len() + 1];
            key[0] = unit_ranks[charges.chunk.units[row as usize] as usize];
            for (place, (column, ranks)) in key[1..].iter_mut().zip(&columns) {
                // Null comes first.
                *place = ranks.get(column.code(row) as usize).copied().unwrap_or(0);
            }
            (key, row)
        })
        .collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, row)| row).collect()
}

/// Rows of resources that have a GPU in any row of the unit so far, and rows with a GPU that name no resource.
fn gpu_rows(charges: Charges<'_>, rows: &[u32], unit: &mut Unit) -> Vec<u32> {
    let (Some(Column::Text(types)), Some(resources)) = (charges.find("x_GpuType"), charges.chunk.text("ResourceId"))
    else {
        return Vec::new();
    };
    // A type without a number is a GPU too: how many is unknown.
    let has_gpu = |row: u32| types.codes.get(row) != NONE;
    let mut wanted = vec![false; resources.dictionary.len()];
    if !unit.gpu_resources.is_empty() {
        for (wanted, resource) in wanted.iter_mut().zip(resources.dictionary.iter()) {
            *wanted = unit.gpu_resources.contains_key(resource);
        }
    }
    for row in rows.iter().filter(|row| has_gpu(**row)) {
        let code = resources.codes.get(*row);
        if code != NONE && !wanted[code as usize] {
            wanted[code as usize] = true;
            unit.add_gpu_resource(resources.dictionary.get(code));
        }
    }
    let of_gpu = |row: u32| has_gpu(row) || is_wanted(resources, row, &wanted);
    rows.iter().copied().filter(|row| of_gpu(*row)).collect()
}

fn is_wanted(resources: &Text, row: u32, wanted: &[bool]) -> bool {
    wanted.get(resources.codes.get(row) as usize).copied().unwrap_or(false)
}

/// The cubes hold what the charges hold, to the last digit; anything else is a fault of ours.
fn reconcile(charges: Charges<'_>, rows: &[u32], daily: &Summed, gpu_hours: &Summed) -> Result<(), StoreError> {
    let fault = |what: &str| {
        Err(StoreError::Query(format!(
            "the cubes do not add up to the charges in {what}"
        )))
    };
    for cost in costs() {
        let number = charges.chunk.number(cost);
        let total: i128 = rows.iter().filter_map(|row| number?.get(*row)).sum();
        if total != daily.total(cost) {
            return fault(cost);
        }
    }
    let count: i64 = daily.rows.iter().sum();
    if count != rows.len() as i64 {
        return fault(ROWS);
    }
    if daily.total("x_GpuHours") != gpu_hours.total("x_GpuHours") {
        return fault("x_GpuHours");
    }
    Ok(())
}
