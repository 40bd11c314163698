//! Colour, only on a terminal and never alone: every coloured text says in words what its colour says.

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    colour: bool,
}

impl Paint {
    /// With colour or without.
    pub const fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// May it paint?
    pub const fn has_colour(self) -> bool {
        self.colour
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Sentences and headings.
    pub fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Remarks.
    pub fn quiet(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Warnings.
    pub fn caution(self, text: &str) -> String {
        self.with("33", text)
    }

    /// Commands to type.
    pub fn command(self, text: &str) -> String {
        self.with("36", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paints_only_with_colour_and_never_nothing() {
        assert_eq!(Paint::new(false).strong("a"), "a");
        assert_eq!(Paint::new(true).strong("a"), "\u{1b}[1ma\u{1b}[0m");
        assert_eq!(Paint::new(true).quiet(""), "");
    }
}
