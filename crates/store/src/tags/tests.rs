use proptest::prelude::*;

use super::*;

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect()
}

#[test]
fn forms_that_bills_use() {
    let expected = map(&[("environment", "prod"), ("team", "x")]);
    for text in [
        r#"{"Environment": "prod", "team": "x"}"#,
        r#"{" environment ":"prod","TEAM":"x"}"#,
        r#""environment": "prod","team": "x""#,
        "{'Environment': 'prod', 'team': 'x'}",
        "  { 'Environment' : \"prod\" , 'team':'x', } ",
    ] {
        assert_eq!(parse(text), expected, "{text}");
    }
}

#[test]
fn values_that_are_no_strings() {
    let text = r#"{"n": 500, "yes": true, "No": False, "gone": null, "py": None, "e": "", "deep": {"a": [1, "}"]}, "x": 1.50}"#;
    let expected = map(&[
        ("n", "500"),
        ("yes", "true"),
        ("no", "false"),
        ("e", ""),
        ("deep", r#"{"a": [1, "}"]}"#),
        ("x", "1.50"),
    ]);
    assert_eq!(parse(text), expected);
}

#[test]
fn escapes() {
    assert_eq!(
        parse(r#"{"a":"x\"y\\z\u00e9\ud83d\ude00\n"}"#),
        map(&[("a", "x\"y\\zé😀\n")])
    );
    assert_eq!(parse(r#"{"a":"\ud83d!"}"#), map(&[("a", "\u{fffd}!")]));
    assert_eq!(parse("{'a':'it\\'s'}"), map(&[("a", "it's")]));
}

#[test]
fn nothing_and_nonsense() {
    for text in ["", "{}", "  ", "{ }"] {
        assert_eq!(read(text), Some(Tags::default()), "{text:?}");
    }
    for text in [
        "{",
        "team=x",
        "{team: x}",
        r#"{"a" "b"}"#,
        r#"{"a":}"#,
        r#"{"a":"b"#,
        "[1]",
        r#"{"a":"b"}}"#,
    ] {
        assert_eq!(read(text), None, "{text:?}");
        assert!(parse(text).is_empty());
    }
}

#[test]
fn two_values_of_one_folded_key_are_a_conflict() {
    let tags = read(r#"{"Environment":"prod","environment":"dev","team":"a","TEAM":"a"}"#).unwrap();
    assert_eq!(tags.values, map(&[("team", "a")]));
    assert_eq!(tags.conflicts.into_iter().collect::<Vec<_>>(), ["environment"]);
    let thrice = read(r#"{"a":"1","A":"2"," a":"1"}"#).unwrap();
    assert!(thrice.values.is_empty() && thrice.conflicts.contains("a"));
}

proptest! {
    /// On JSON objects of strings it agrees with a JSON parser, with and without the braces.
    #[test]
    fn agrees_with_json(object in prop::collection::btree_map("[a-z]{1,6}", any::<String>(), 0..6)) {
        let text = serde_json::to_string(&object).unwrap();
        prop_assert_eq!(parse(&text), object.clone());
        prop_assert_eq!(parse(&text[1..text.len() - 1]), object);
    }

    /// Any text gives tags or none, never a panic.
    #[test]
    fn survives_any_text(text in any::<String>(), noise in r#"[{}\[\]"':,\\ua-f0-9 ]{0,80}"#) {
        for text in [text.as_str(), noise.as_str()] {
            if let Some(tags) = read(text) {
                prop_assert!(tags.conflicts.iter().all(|key| !tags.values.contains_key(key)));
            }
        }
    }
}
