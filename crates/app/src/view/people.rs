//! Users and tokens of the dashboard, and what was done with one.

use jiff::Timestamp;
use lowwater_store::state::{Person, Token};
use serde::Serialize;

use crate::amount::plural;
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// Who may log in.
#[derive(Debug, Serialize)]
pub struct Users {
    users: Vec<Person>,
}

impl Users {
    /// By name.
    pub fn new(users: Vec<Person>) -> Self {
        Self { users }
    }
}

impl View for Users {
    fn screen(&self) -> Screen {
        let mut table = Table::new([Column::text("user"), Column::text("role"), Column::text("sees")]);
        for user in &self.users {
            table.row([user.name.clone(), user.role.as_str().into(), user.scope.to_string()]);
        }
        if self.users.is_empty() {
            return Screen::new("Nobody may log in yet: `lowwater user add NAME` adds the first user.");
        }
        Screen::new(format!(
            "{} may log in to the dashboard.",
            plural(self.users.len() as u64, "user")
        ))
        .table(table)
    }
}

/// Tokens, without their secrets.
#[derive(Debug, Serialize)]
pub struct Tokens {
    tokens: Vec<Token>,
    #[serde(skip)]
    now: Timestamp,
}

impl Tokens {
    /// By name.
    pub fn new(tokens: Vec<Token>, now: Timestamp) -> Self {
        Self { tokens, now }
    }
}

impl View for Tokens {
    fn screen(&self) -> Screen {
        if self.tokens.is_empty() {
            return Screen::new("There are no tokens: `lowwater token add NAME` adds one.");
        }
        let mut table = Table::new([
            Column::text("token"),
            Column::text("role"),
            Column::text("sees"),
            Column::text("until"),
        ]);
        for token in &self.tokens {
            let ended = if token.until <= self.now { " (ended)" } else { "" };
            table.row([
                token.holder.name.clone(),
                token.holder.role.as_str().into(),
                token.holder.scope.to_string(),
                format!("{}{ended}", crate::amount::instant(token.until)),
            ]);
        }
        let valid = self.tokens.iter().filter(|token| self.now < token.until).count();
        Screen::new(format!(
            "{} of {} opens the dashboard.",
            valid,
            plural(self.tokens.len() as u64, "token")
        ))
        .table(table)
    }
}

/// A new token, with its secret: this once.
#[derive(Debug, Serialize)]
pub struct Made {
    /// Its name, role, scope and end.
    #[serde(flatten)]
    pub token: Token,
    /// What a program shows.
    #[serde(rename = "token")]
    pub secret: String,
}

impl View for Made {
    fn screen(&self) -> Screen {
        let holder = &self.token.holder;
        Screen::new(format!(
            "Token {} sees {} as {} until {}. This is the only time that it is shown:",
            holder.name,
            holder.scope,
            holder.role.as_str(),
            crate::amount::instant(self.token.until)
        ))
        .verbatim(self.secret.clone())
    }
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct Changed {
    kind: &'static str,
    name: String,
    what: &'static str,
}

impl Changed {
    /// To whom or what.
    pub fn new(kind: &'static str, what: &'static str, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            what,
        }
    }
}

impl View for Changed {
    fn screen(&self) -> Screen {
        Screen::new(format!("The {} {} is {}.", self.kind, self.name, self.what))
    }
}
