//! The billing currency of a load: one, that of the data directory.

use crate::error::{InputError, StoreError};

const COLUMN: &str = "BillingCurrency";

/// What the charges are in, and what was read of it.
pub(crate) struct Currency {
    known: Option<String>,
    /// Where the file has it.
    column: Option<usize>,
    /// The text that was read last: neighbours are equal.
    last: String,
}

impl Currency {
    /// `known` = that of the directory, if it has one.
    pub(crate) fn new(known: Option<String>) -> Self {
        Self {
            known,
            column: None,
            last: String::new(),
        }
    }

    /// A new file with these columns.
    pub(crate) fn columns(&mut self, names: &[String]) {
        self.column = names.iter().position(|name| name == COLUMN);
    }

    /// What all charges are in; none where none said.
    pub(crate) fn known(&self) -> Option<&str> {
        self.known.as_deref()
    }

    /// Has the file no such column?
    pub(crate) fn is_absent(&self) -> bool {
        self.column.is_none()
    }

    /// Takes the currency of a row. False where the file has the column and the row says nothing.
    pub(crate) fn take(&mut self, fields: &[Option<&str>], file: &str, row: u64) -> Result<bool, StoreError> {
        let Some(at) = self.column else { return Ok(true) };
        let Some(text) = fields.get(at).copied().flatten() else {
            return Ok(false);
        };
        if text == self.last {
            return Ok(true);
        }
        let code = text.trim().to_uppercase();
        if code.is_empty() {
            return Ok(false);
        }
        if code.len() != 3 || !code.bytes().all(|b| b.is_ascii_uppercase()) {
            let mut error = InputError::new(file, "is no currency code of ISO 4217, which has three letters")
                .row(row)
                .hint("bills are in a national currency, such as USD: correct the column");
            error.column = Some(COLUMN.into());
            error.value = Some(text.chars().take(200).collect());
            return Err(error.into());
        }
        let known = self.known.get_or_insert_with(|| code.clone());
        if *known != code {
            return Err(StoreError::Refused {
                what: format!(
                    "{file}:{row}:{COLUMN}: charges in {known} and {code}, but one data directory has one billing \
                     currency (value `{code}`)"
                ),
                hint: "load each currency into a directory of its own (`--data DIR`)".into(),
            });
        }
        text.clone_into(&mut self.last);
        Ok(true)
    }
}
