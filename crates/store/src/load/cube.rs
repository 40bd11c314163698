//! Sums of charges over their dimensions: what most questions are answered from.

use std::collections::HashMap;

use super::chunk::Chunk;
use super::column::Column;
use super::derive::{Derived, INSTANCE_HOURS, PROVIDER};
use crate::schema::{self, Kind};

/// A cube: its columns, what it is made of.
#[derive(Clone, Copy)]
pub(crate) struct Cube {
    /// Name of the table.
    pub(crate) table: &'static str,
    /// Its columns.
    pub(crate) columns: &'static [schema::Column],
    /// Columns that are filled from another than the one of their name.
    aliases: &'static [(&'static str, &'static str)],
}

/// Day x dimensions x resource x tags.
pub(crate) const DAILY: Cube = Cube {
    table: "daily",
    columns: schema::DAILY,
    aliases: &[("ProviderName", PROVIDER)],
};

/// Hour x resource x kind of line x terms, of resources with GPUs.
pub(crate) const GPU_HOURS: Cube = Cube {
    table: "gpu_hours",
    columns: schema::GPU_HOURS,
    aliases: &[("ConsumedQuantity", INSTANCE_HOURS)],
};

/// Counts the charges of a group.
pub(crate) const ROWS: &str = "x_Rows";

/// A chunk with what was derived from it.
#[derive(Clone, Copy)]
pub(crate) struct Charges<'a> {
    pub(crate) chunk: &'a Chunk,
    pub(crate) derived: &'a Derived,
}

impl<'a> Charges<'a> {
    /// A column by name, as charges have it.
    pub(crate) fn find(&self, name: &str) -> Option<&'a Column> {
        self.derived.find(name).or_else(|| self.chunk.find(name))
    }
}

/// Groups with their sums.
pub(crate) struct Summed {
    /// A row of each group: it has the group's dimensions.
    pub(crate) of: Vec<u32>,
    /// Charges of each group.
    pub(crate) rows: Vec<i64>,
    /// Names of what is summed.
    pub(crate) measures: Vec<&'static str>,
    /// By measure, then by group; none where nothing is known.
    pub(crate) sums: Vec<Vec<Option<i128>>>,
}

impl Cube {
    /// The column that fills one of the cube's.
    pub(crate) fn source<'a>(&self, charges: Charges<'a>, name: &str) -> Option<&'a Column> {
        let alias = self.aliases.iter().find(|(to, _)| *to == name);
        charges.find(alias.map_or(name, |(_, from)| *from))
    }

    /// Sums the rows.
    pub(crate) fn sum(&self, charges: Charges<'_>, rows: &[u32]) -> Summed {
        let named = self
            .columns
            .iter()
            .filter_map(|c| Some((c, self.source(charges, c.name)?)));
        let (measures, dimensions): (Vec<_>, Vec<_>) =
            named.partition(|(_, source)| matches!(source, Column::Number(_)));
        let mut summed = Summed {
            of: Vec::new(),
            rows: Vec::new(),
            measures: measures.iter().map(|(c, _)| c.name).collect(),
            sums: vec![Vec::new(); measures.len()],
        };
        let mut groups: HashMap<Box<[u32]>, usize> = HashMap::new();
        let mut key = Vec::with_capacity(dimensions.len());
        for row in rows {
            key.clear();
            key.extend(dimensions.iter().map(|(_, column)| column.code(*row)));
            let group = match groups.get(key.as_slice()) {
                Some(group) => *group,
                None => summed.open(*row, &key, &mut groups),
            };
            summed.rows[group] += 1;
            for ((_, column), sums) in measures.iter().zip(&mut summed.sums) {
                if let Column::Number(number) = column
                    && let Some(value) = number.get(*row)
                {
                    sums[group] = Some(sums[group].unwrap_or(0) + value);
                }
            }
        }
        summed
    }
}

impl Summed {
    fn open(&mut self, row: u32, key: &[u32], groups: &mut HashMap<Box<[u32]>, usize>) -> usize {
        let group = self.of.len();
        groups.insert(key.into(), group);
        self.of.push(row);
        self.rows.push(0);
        self.sums.iter_mut().for_each(|sums| sums.push(None));
        group
    }

    /// The sum of a measure over all groups.
    pub(crate) fn total(&self, measure: &str) -> i128 {
        let at = self.measures.iter().position(|name| *name == measure);
        at.map_or(0, |at| self.sums[at].iter().flatten().sum())
    }

    /// Sums of a measure by group.
    pub(crate) fn of_measure(&self, name: &str) -> Option<&[Option<i128>]> {
        let at = self.measures.iter().position(|measure| *measure == name)?;
        Some(&self.sums[at])
    }
}

/// Is a column of charges a cost?
pub(crate) fn costs() -> impl Iterator<Item = &'static str> {
    schema::DAILY.iter().filter(|c| c.kind == Kind::Cost).map(|c| c.name)
}
