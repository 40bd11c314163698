//! What somebody shows instead of a password: a session of a browser, or a token of a program. Only hashes of them are kept.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use sqlx::Row as _;

use super::people::written;
use super::{Person, State, unreadable, write_down};
use crate::error::StoreError;

/// A session ends so many days after its login.
pub const SESSION_DAYS: i64 = 7;
/// A session ends so many hours after it was last used.
const IDLE_HOURS: i64 = 12;
/// Use is written down no oftener than this.
const SEEN_MINUTES: i64 = 5;
/// Begins every token, so that tools that look for leaked secrets can know it.
const MARK: &str = "lowwater_";

/// A token of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Token {
    /// Its name, role and scope.
    #[serde(flatten)]
    pub holder: Person,
    /// It ends then.
    pub until: Timestamp,
}

/// 256 random bits that nobody can guess, in hexadecimal.
fn secret() -> Result<String, StoreError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| StoreError::Refused {
        what: format!("the system gives no random numbers: {e}"),
        hint: "try again".into(),
    })?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is kept of a secret. It has 256 random bits, so that one hash hides it.
fn kept(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

impl State {
    /// Opens a session of a user; the secret is for its browser.
    pub fn open_session(&self, name: &str, at: Timestamp) -> Result<String, StoreError> {
        let secret = secret()?;
        let oldest = at - SignedDuration::from_hours(24 * SESSION_DAYS);
        self.run(async {
            let mut transaction = self.pool.begin().await?;
            let old = sqlx::query("DELETE FROM sessions WHERE since < $1").bind(oldest.to_string());
            old.execute(&mut *transaction).await?;
            sqlx::query("INSERT INTO sessions (secret, name, since, seen) VALUES ($1, $2, $3, $3)")
                .bind(kept(&secret))
                .bind(name)
                .bind(at.to_string())
                .execute(&mut *transaction)
                .await?;
            write_down(&mut transaction, (name, at), "logged in", "the dashboard").await?;
            transaction.commit().await
        })?;
        Ok(secret)
    }

    /// Whose session it is; none where there is none, or it ended.
    pub fn session(&self, secret: &str, now: Timestamp) -> Result<Option<Person>, StoreError> {
        let secret = kept(secret);
        let sql =
            "SELECT users.*, since, seen FROM sessions JOIN users ON users.name = sessions.name WHERE secret = $1";
        let Some(row) = self.run(async { sqlx::query(sql).bind(&secret).fetch_optional(&self.pool).await })? else {
            return Ok(None);
        };
        let at = |name: &str| self.instant(&row.try_get::<String, _>(name).map_err(|e| unreadable(&self.path, &e))?);
        let (since, seen) = (at("since")?, at("seen")?);
        let hours = |hours| SignedDuration::from_hours(hours);
        if now >= since + hours(24 * SESSION_DAYS) || now >= seen + hours(IDLE_HOURS) {
            return Ok(None);
        }
        if now >= seen + SignedDuration::from_mins(SEEN_MINUTES) {
            self.run(async {
                let seen = sqlx::query("UPDATE sessions SET seen = $2 WHERE secret = $1");
                seen.bind(&secret).bind(now.to_string()).execute(&self.pool).await
            })?;
        }
        self.person(&row).map(Some)
    }

    /// Ends a session.
    pub fn close_session(&self, secret: &str, who: &str, at: Timestamp) -> Result<bool, StoreError> {
        let secret = kept(secret);
        let change = ("DELETE FROM sessions WHERE secret = $1", &[secret.as_str()][..]);
        self.change(change, (who, at), ("logged out of", "the dashboard"))
    }

    /// A login that failed, for the log. The name is what was typed, cut.
    pub fn note_failure(&self, name: &str, at: Timestamp) -> Result<(), StoreError> {
        let name: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
        self.run(async {
            let mut transaction = self.pool.begin().await?;
            write_down(&mut transaction, (&name, at), "failed to log in to", "the dashboard").await?;
            transaction.commit().await
        })
    }

    /// Makes a token; what is given back is shown once and kept nowhere. Refused where there is one of that name.
    pub fn add_token(&self, token: &Token, who: &str, at: Timestamp) -> Result<String, StoreError> {
        let secret = format!("{MARK}{}", secret()?);
        let holder = &token.holder;
        let (role, scope) = written(holder.role, &holder.scope);
        let sql = "INSERT INTO tokens (name, secret, role, scope, until, added_by, added_at) VALUES ($1, $2, $3, $4, $5, $6, $7) \
                   ON CONFLICT (name) DO NOTHING";
        let added = self.run(async {
            let mut transaction = self.pool.begin().await?;
            let done = sqlx::query(sql)
                .bind(&holder.name)
                .bind(kept(&secret))
                .bind(&role)
                .bind(&scope)
                .bind(token.until.to_string())
                .bind(who)
                .bind(at.to_string())
                .execute(&mut *transaction)
                .await?;
            if done.rows_affected() == 0 {
                return Ok(false);
            }
            let about = format!(
                "token {} as {role} that sees {} until {}",
                holder.name, holder.scope, token.until
            );
            write_down(&mut transaction, (who, at), "added", &about).await?;
            transaction.commit().await?;
            Ok(true)
        })?;
        if added {
            return Ok(secret);
        }
        Err(StoreError::Refused {
            what: format!("there is a token `{}` already", holder.name),
            hint: "`lowwater token remove` it first, or choose another name".into(),
        })
    }

    /// Removes a token; false where there is none of that name.
    pub fn remove_token(&self, name: &str, who: &str, at: Timestamp) -> Result<bool, StoreError> {
        let change = ("DELETE FROM tokens WHERE name = $1", &[name][..]);
        self.change(change, (who, at), ("removed", &format!("token {name}")))
    }

    /// Every token, by name; those that ended too.
    pub fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        let rows = self.run(async {
            sqlx::query("SELECT * FROM tokens ORDER BY name")
                .fetch_all(&self.pool)
                .await
        })?;
        rows.iter().map(|row| self.token_of(row)).collect()
    }

    /// Whose token it is; none where there is none, or it ended.
    pub fn with_token(&self, secret: &str, now: Timestamp) -> Result<Option<Person>, StoreError> {
        let row = self.run(async {
            let query = sqlx::query("SELECT * FROM tokens WHERE secret = $1").bind(kept(secret));
            query.fetch_optional(&self.pool).await
        })?;
        let token = row.map(|row| self.token_of(&row)).transpose()?;
        Ok(token.filter(|token| now < token.until).map(|token| token.holder))
    }

    fn token_of(&self, row: &sqlx::sqlite::SqliteRow) -> Result<Token, StoreError> {
        let until: String = row.try_get("until").map_err(|e| unreadable(&self.path, &e))?;
        Ok(Token {
            holder: self.person(row)?,
            until: self.instant(&until)?,
        })
    }
}
