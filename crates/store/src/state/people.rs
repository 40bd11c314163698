//! Users of the dashboard, what each may do, and what each may see.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{State, unreadable, write_down};
use crate::error::StoreError;

/// What somebody may do; each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Look.
    #[default]
    Viewer,
    /// Approve steps of plans, and withdraw approvals.
    Approver,
    /// Everything.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Approver, Self::Admin];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }

    /// The role that is written so.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

/// What somebody may see: everything, or what is of one of these teams and in one of these accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Teams as reports name them; empty = of every team.
    #[serde(default)]
    pub teams: BTreeSet<String>,
    /// Sub-accounts as reports name them; empty = in every account.
    #[serde(default)]
    pub accounts: BTreeSet<String>,
}

impl Scope {
    /// Is nothing hidden?
    pub fn is_everything(&self) -> bool {
        self.teams.is_empty() && self.accounts.is_empty()
    }
}

/// `everything`, or `team a or b, account 1`.
impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_everything() {
            return f.write_str("everything");
        }
        let list = |what: &str, names: &BTreeSet<String>| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            (!names.is_empty()).then(|| format!("{what} {}", names.join(" or ")))
        };
        let parts = [list("team", &self.teams), list("account", &self.accounts)];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// Somebody who may log in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Person {
    /// See [`is_name`].
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// What it may see.
    pub scope: Scope,
}

/// What a name of a user or a token may be, in words.
pub const NAME_RULE: &str = "a name has 1 to 64 of the characters a-z, 0-9, `.`, `_`, `-` and `@`";

/// Does a text follow [`NAME_RULE`]?
pub fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-@".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(fits)
}

/// Shortest password; NIST SP 800-63B asks for 15 where nothing else is asked for, and 8 at the least.
const MIN_PASSWORD: usize = 12;
/// Longest, so that nobody can keep the machine busy with one.
const MAX_PASSWORD: usize = 1024;

/// A hash that no password has: a name that there is not takes as long as one that there is.
static NOBODY: LazyLock<String> =
    LazyLock::new(|| hashed("no password is this short and this long").unwrap_or_default());

fn hashed(password: &str) -> Option<String> {
    let hash = Argon2::default().hash_password(password.as_bytes()).ok()?;
    Some(hash.to_string())
}

fn checked(password: &str) -> Result<String, StoreError> {
    let length = password.chars().count();
    if length < MIN_PASSWORD || password.len() > MAX_PASSWORD {
        return Err(StoreError::Refused {
            what: format!("the password has {length} characters"),
            hint: format!("choose one of {MIN_PASSWORD} to {MAX_PASSWORD}; a sentence does well"),
        });
    }
    hashed(password).ok_or_else(|| StoreError::Refused {
        what: "the password could not be hashed".into(),
        hint: "is there memory, and does the system give random numbers?".into(),
    })
}

fn is_right(password: &str, hash: &str) -> bool {
    password.len() <= MAX_PASSWORD
        && PasswordHash::new(hash)
            .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

/// Columns of who may do what, as they are written.
pub(super) fn written(role: Role, scope: &Scope) -> (String, String) {
    (
        role.as_str().to_owned(),
        serde_json::to_string(scope).unwrap_or_default(),
    )
}

impl State {
    pub(super) fn person(&self, row: &SqliteRow) -> Result<Person, StoreError> {
        let text = |name: &str| row.try_get::<String, _>(name).map_err(|e| unreadable(&self.path, &e));
        let (name, role, scope) = (text("name")?, text("role")?, text("scope")?);
        let damaged = || StoreError::damaged(&self.path, format!("what `{name}` may do can't be read"));
        Ok(Person {
            role: Role::parse(&role).ok_or_else(damaged)?,
            scope: serde_json::from_str(&scope).map_err(|_| damaged())?,
            name,
        })
    }

    /// Adds a user. Refused where there is one of that name, or the password is too short.
    pub fn add_user(&self, person: &Person, password: &str, who: &str, at: Timestamp) -> Result<(), StoreError> {
        let hash = checked(password)?;
        let (role, scope) = written(person.role, &person.scope);
        let added = self.run(async {
            let mut transaction = self.pool.begin().await?;
            let sql = "INSERT INTO users (name, password, role, scope, added_by, added_at) VALUES ($1, $2, $3, $4, $5, $6) \
                       ON CONFLICT (name) DO NOTHING";
            let done = sqlx::query(sql)
                .bind(&person.name)
                .bind(&hash)
                .bind(&role)
                .bind(&scope)
                .bind(who)
                .bind(at.to_string())
                .execute(&mut *transaction)
                .await?;
            if done.rows_affected() == 0 {
                return Ok(false);
            }
            let about = format!("user {} as {role} who sees {}", person.name, person.scope);
            write_down(&mut transaction, (who, at), "added", &about).await?;
            transaction.commit().await?;
            Ok(true)
        })?;
        if added {
            return Ok(());
        }
        Err(StoreError::Refused {
            what: format!("there is a user `{}` already", person.name),
            hint: "`lowwater user remove` it first, or `lowwater user password` gives it another password".into(),
        })
    }

    /// Gives a user another password, and ends its sessions; false where there is no such user.
    pub fn set_password(&self, name: &str, password: &str, who: &str, at: Timestamp) -> Result<bool, StoreError> {
        let hash = checked(password)?;
        let change = ("UPDATE users SET password = $2 WHERE name = $1", &[name, &hash][..]);
        self.change(change, (who, at), ("gave another password to", &format!("user {name}")))
    }

    /// Removes a user, and ends its sessions; false where there is no such user.
    pub fn remove_user(&self, name: &str, who: &str, at: Timestamp) -> Result<bool, StoreError> {
        let change = ("DELETE FROM users WHERE name = $1", &[name][..]);
        self.change(change, (who, at), ("removed", &format!("user {name}")))
    }

    /// One change and its line in the log; false where it changed nothing.
    pub(super) fn change(
        &self,
        (sql, values): (&'static str, &[&str]),
        (who, at): (&str, Timestamp),
        (what, about): (&str, &str),
    ) -> Result<bool, StoreError> {
        self.run(async {
            let mut transaction = self.pool.begin().await?;
            let query = values.iter().fold(sqlx::query(sql), |query, value| query.bind(*value));
            if query.execute(&mut *transaction).await?.rows_affected() == 0 {
                return Ok(false);
            }
            write_down(&mut transaction, (who, at), what, about).await?;
            transaction.commit().await?;
            Ok(true)
        })
    }

    /// Everybody who may log in, by name.
    pub fn users(&self) -> Result<Vec<Person>, StoreError> {
        let rows = self.run(async {
            sqlx::query("SELECT * FROM users ORDER BY name")
                .fetch_all(&self.pool)
                .await
        })?;
        rows.iter().map(|row| self.person(row)).collect()
    }

    /// The user of that name, if that is its password. Takes as long where there is none.
    pub fn with_password(&self, name: &str, password: &str) -> Result<Option<Person>, StoreError> {
        let row = self.run(async {
            let query = sqlx::query("SELECT * FROM users WHERE name = $1").bind(name);
            query.fetch_optional(&self.pool).await
        })?;
        let hash = row.as_ref().map(|row| row.try_get::<String, _>("password")).transpose();
        let hash = hash.map_err(|e| unreadable(&self.path, &e))?;
        let right = is_right(password, hash.as_deref().unwrap_or(&NOBODY));
        row.filter(|_| right).map(|row| self.person(&row)).transpose()
    }
}
