//! Who asks: what it may do and see.

use lowwater_store::state::{Person, Role};

/// Somebody whom the gate let in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asker {
    /// Name, role and scope.
    pub person: Person,
    /// What forms of its pages carry, so that no other site can send them.
    pub token: String,
    /// It logged in, and can log out.
    pub in_session: bool,
}

impl Asker {
    /// May it do what this role may?
    pub fn may(&self, role: Role) -> bool {
        self.person.role >= role
    }

    /// Is nothing hidden from it?
    pub fn sees_everything(&self) -> bool {
        self.person.scope.is_everything()
    }
}
