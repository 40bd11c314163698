//! What people decided, and who they are: approvals of steps, users and tokens of the dashboard, and a log of it all that can
//! only grow. In `state.db`, apart from what was loaded: a store may be made anew from its files, decisions may not.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteRow};
use sqlx::{Row as _, Sqlite, Transaction};
use tokio::runtime::Runtime;

use crate::error::StoreError;

mod people;
mod tickets;

pub use people::{NAME_RULE, Person, Role, Scope, is_name};
pub use tickets::{SESSION_DAYS, Token};

/// Name of the file in the data directory.
const FILE: &str = "state.db";

/// What each version of the form adds; the number of those that were applied stands in the file.
const FORMS: [&str; 2] = [
    "CREATE TABLE approvals (
       number INTEGER PRIMARY KEY,
       step TEXT NOT NULL, plan TEXT NOT NULL, title TEXT NOT NULL, per_month TEXT NOT NULL,
       who TEXT NOT NULL, at TEXT NOT NULL, until TEXT NOT NULL,
       withdrawn_by TEXT, withdrawn_at TEXT);
     CREATE INDEX approvals_of_steps ON approvals (step);
     CREATE TABLE log (
       number INTEGER PRIMARY KEY,
       at TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, about TEXT NOT NULL,
       before TEXT NOT NULL, hash TEXT NOT NULL UNIQUE);
     CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'the log can only grow'); END;
     CREATE TRIGGER log_is_not_cut BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'the log can only grow'); END;",
    "CREATE TABLE users (
       name TEXT PRIMARY KEY, password TEXT NOT NULL, role TEXT NOT NULL, scope TEXT NOT NULL, added_by TEXT NOT NULL, added_at TEXT NOT NULL);
     CREATE TABLE tokens (
       name TEXT PRIMARY KEY, secret TEXT NOT NULL UNIQUE, role TEXT NOT NULL, scope TEXT NOT NULL, until TEXT NOT NULL,
       added_by TEXT NOT NULL, added_at TEXT NOT NULL);
     CREATE TABLE sessions (
       secret TEXT PRIMARY KEY, name TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE, since TEXT NOT NULL, seen TEXT NOT NULL);
     CREATE TRIGGER sessions_end_with_the_password AFTER UPDATE OF password ON users BEGIN
       DELETE FROM sessions WHERE name = NEW.name; END;",
];

/// A step that somebody approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// Id of the step: the same change has the same id in every plan.
    pub step: String,
    /// Id of the plan in which it was seen.
    pub plan: String,
    /// What was approved, in words.
    pub title: String,
    /// Cash a month that was promised, in words.
    pub per_month: String,
    /// Who.
    pub who: String,
    /// When.
    pub at: Timestamp,
    /// It holds until then.
    pub until: Timestamp,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// From 1.
    pub number: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub who: String,
    /// What was done, such as `approved` or `logged in`.
    pub what: String,
    /// To what: a step of a plan, a user, a token.
    pub about: String,
    /// Hash of this line and of the one before: a line that is changed or gone is found.
    pub hash: String,
}

/// The decisions of one data directory.
pub struct State {
    path: PathBuf,
    runtime: Runtime,
    pool: SqlitePool,
}

impl State {
    /// The decisions in a data directory; none where nobody decided anything yet.
    pub fn there(dir: &Path) -> Result<Option<Self>, StoreError> {
        if dir.join(FILE).exists() {
            Self::open(dir).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The same, made where it is not there.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(FILE);
        keep_private(&path)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(StoreError::io(&path))?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .foreign_keys(true)
            .busy_timeout(BUSY);
        let pool = runtime
            .block_on(SqlitePoolOptions::new().max_connections(1).connect_with(options))
            .map_err(|e| unreadable(&path, &e))?;
        let state = Self { path, runtime, pool };
        state.bring_up()?;
        Ok(state)
    }

    fn run<T>(&self, work: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, StoreError> {
        self.runtime.block_on(work).map_err(|e| unreadable(&self.path, &e))
    }

    /// Applies the forms that the file lacks, each whole or not at all.
    fn bring_up(&self) -> Result<(), StoreError> {
        let version = self.run(async {
            let row = sqlx::query("PRAGMA user_version").fetch_one(&self.pool).await?;
            row.try_get::<i64, _>(0)
        })?;
        if version > FORMS.len() as i64 {
            return Err(StoreError::Refused {
                what: format!("{} is of a newer form than this program knows", self.path.display()),
                hint: "use the program that wrote it".into(),
            });
        }
        for (at, form) in FORMS.iter().enumerate().skip(usize::try_from(version).unwrap_or(0)) {
            self.run(async {
                let mut transaction = self.pool.begin().await?;
                sqlx::raw_sql(*form).execute(&mut *transaction).await?;
                let set = format!("PRAGMA user_version = {}", at + 1);
                sqlx::raw_sql(sqlx::AssertSqlSafe(set))
                    .execute(&mut *transaction)
                    .await?;
                transaction.commit().await
            })?;
        }
        Ok(())
    }

    /// Approves a step, in place of an earlier approval of it.
    pub fn approve(&self, approval: &Approval) -> Result<(), StoreError> {
        self.run(async {
            let mut transaction = self.pool.begin().await?;
            sqlx::query("UPDATE approvals SET withdrawn_by = $1, withdrawn_at = $2 WHERE step = $3 AND withdrawn_at IS NULL")
                .bind(&approval.who)
                .bind(approval.at.to_string())
                .bind(&approval.step)
                .execute(&mut *transaction)
                .await?;
            sqlx::query("INSERT INTO approvals (step, plan, title, per_month, who, at, until) VALUES ($1, $2, $3, $4, $5, $6, $7)")
                .bind(&approval.step)
                .bind(&approval.plan)
                .bind(&approval.title)
                .bind(&approval.per_month)
                .bind(&approval.who)
                .bind(approval.at.to_string())
                .bind(approval.until.to_string())
                .execute(&mut *transaction)
                .await?;
            let about = format!("step {} of plan {} until {}", approval.step, approval.plan, approval.until);
            write_down(&mut transaction, (&approval.who, approval.at), "approved", &about).await?;
            transaction.commit().await
        })
    }

    /// Withdraws the approval of a step; false where there is none.
    pub fn withdraw(&self, step: &str, who: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.run(async {
            let mut transaction = self.pool.begin().await?;
            let done = sqlx::query(
                "UPDATE approvals SET withdrawn_by = $1, withdrawn_at = $2 WHERE step = $3 AND withdrawn_at IS NULL",
            )
            .bind(who)
            .bind(at.to_string())
            .bind(step)
            .execute(&mut *transaction)
            .await?;
            if done.rows_affected() == 0 {
                return Ok(false);
            }
            write_down(&mut transaction, (who, at), "withdrew", &format!("step {step}")).await?;
            transaction.commit().await?;
            Ok(true)
        })
    }

    /// Approvals that hold at an instant, by step.
    pub fn approvals(&self, now: Timestamp) -> Result<Vec<Approval>, StoreError> {
        let sql = "SELECT step, plan, title, per_month, who, at, until FROM approvals WHERE withdrawn_at IS NULL ORDER BY step";
        let rows = self.run(async { sqlx::query(sql).fetch_all(&self.pool).await })?;
        let all: Vec<Approval> = rows.iter().map(|row| self.approval(row)).collect::<Result<_, _>>()?;
        Ok(all
            .into_iter()
            .filter(|approval| approval.at <= now && now < approval.until)
            .collect())
    }

    fn approval(&self, row: &SqliteRow) -> Result<Approval, StoreError> {
        let text = |name: &str| row.try_get::<String, _>(name).map_err(|e| unreadable(&self.path, &e));
        Ok(Approval {
            step: text("step")?,
            plan: text("plan")?,
            title: text("title")?,
            per_month: text("per_month")?,
            who: text("who")?,
            at: self.instant(&text("at")?)?,
            until: self.instant(&text("until")?)?,
        })
    }

    fn instant(&self, text: &str) -> Result<Timestamp, StoreError> {
        text.parse()
            .map_err(|_| StoreError::damaged(&self.path, format!("`{text}` is no instant")))
    }

    /// The log, from its first line. An error where a line was changed or is gone.
    pub fn log(&self) -> Result<Vec<Entry>, StoreError> {
        let rows = self.run(async {
            sqlx::query("SELECT * FROM log ORDER BY number")
                .fetch_all(&self.pool)
                .await
        })?;
        let mut before = String::new();
        let mut entries = Vec::new();
        for (at, row) in (1..).zip(&rows) {
            let text = |name: &str| row.try_get::<String, _>(name).map_err(|e| unreadable(&self.path, &e));
            let (when, who, what, about) = (text("at")?, text("who")?, text("what")?, text("about")?);
            let hash = hash_of(&before, [&when, &who, &what, &about]);
            let number: i64 = row.try_get("number").map_err(|e| unreadable(&self.path, &e))?;
            if number != at || text("before")? != before || text("hash")? != hash {
                return Err(StoreError::damaged(
                    &self.path,
                    format!("line {at} of its log is not as it was written"),
                ));
            }
            before.clone_from(&hash);
            entries.push(Entry {
                number,
                at: self.instant(&when)?,
                who,
                what,
                about,
                hash,
            });
        }
        Ok(entries)
    }
}

/// How long a decision waits for another one to be written down.
const BUSY: std::time::Duration = std::time::Duration::from_secs(5);

/// Made before anything is written into it: only its owner may read who decided what.
fn keep_private(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(StoreError::io(path))
}

fn hash_of(before: &str, words: [&str; 4]) -> String {
    let mut hasher = Sha256::new();
    for word in std::iter::once(before).chain(words) {
        hasher.update((word.len() as u64).to_le_bytes());
        hasher.update(word.as_bytes());
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One more line of the log, in the transaction of what it tells of.
async fn write_down(
    transaction: &mut Transaction<'_, Sqlite>,
    (who, at): (&str, Timestamp),
    what: &str,
    about: &str,
) -> Result<(), sqlx::Error> {
    let last = sqlx::query("SELECT hash FROM log ORDER BY number DESC LIMIT 1")
        .fetch_optional(&mut **transaction)
        .await?;
    let before: String = last.map(|row| row.try_get("hash")).transpose()?.unwrap_or_default();
    let at = at.to_string();
    let hash = hash_of(&before, [&at, who, what, about]);
    sqlx::query("INSERT INTO log (at, who, what, about, before, hash) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(&at)
        .bind(who)
        .bind(what)
        .bind(about)
        .bind(&before)
        .bind(&hash)
        .execute(&mut **transaction)
        .await
        .map(drop)
}

fn unreadable(path: &Path, error: &sqlx::Error) -> StoreError {
    StoreError::Refused {
        what: format!("{}: {error}", path.display()),
        hint: "is it the file that this program wrote, may it be written, and is there space? decisions that it holds are in no other file".into(),
    }
}

#[cfg(test)]
mod tests;
