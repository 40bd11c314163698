//! Counts test cases that could not run because the shared data or a program is absent.
//!
//! The convention: such a test prints one line `skipped: WHAT (no shared data)` or `skipped: WHAT (no PROGRAM)` to
//! standard error and returns;
//! where `CI` is set it panics instead. The runner keeps the output of passing tests, and this file counts.

/// The reasons, one for each skipped case, in order of appearance.
pub fn reasons(output: &str) -> Vec<&str> {
    // In JUnit XML the first line of a test's output follows its tag.
    let lines = output.split(['\n', '>']).map(str::trim);
    let after = lines.filter_map(|l| l.strip_prefix("skipped: "));
    after.map(|l| l.split('<').next().unwrap_or(l).trim_end()).collect()
}

/// The closing words on skipped cases; an error in CI, where nothing may be skipped.
pub fn verdict(reasons: &[&str], in_ci: bool) -> Result<String, String> {
    if reasons.is_empty() {
        return Ok("no case was skipped".to_owned());
    }
    let list: Vec<String> = reasons.iter().map(|r| format!("  skipped: {r}")).collect();
    let text = format!(
        "{} cases were skipped:\n{}\nhint: set LOWWATER_SHARED to the folder that holds `data`; install the programs that are named",
        reasons.len(),
        list.join("\n")
    );
    if in_ci { Err(text) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_of_a_terminal_and_of_junit() {
        let plain = "running 2 tests\nskipped: focus 1.0 sample (no shared data)\nnot skipped: this\n";
        assert_eq!(reasons(plain), ["focus 1.0 sample (no shared data)"]);
        let junit = "<system-err>skipped: a (no shared data)\nskipped: b</system-err><system-err>other</system-err>";
        assert_eq!(reasons(junit), ["a (no shared data)", "b"]);
        assert!(reasons("test result: ok. 3 passed; 0 skipped").is_empty());
    }

    #[test]
    fn a_skip_is_an_error_in_ci_only() {
        assert_eq!(verdict(&[], true).unwrap(), "no case was skipped");
        assert!(verdict(&["a"], false).unwrap().starts_with("1 cases were skipped"));
        let error = verdict(&["prometheus (no prometheus)"], true).unwrap_err();
        assert!(
            error.contains("prometheus (no prometheus)") && error.contains("install the programs"),
            "{error}"
        );
    }
}
