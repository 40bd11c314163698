//! The dashboard in a real browser: what people see, click and type, in both themes and at every width.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail, and says what it skips"
)]

mod common;
#[path = "browser/driver.rs"]
mod driver;

use common::served::Served;
use common::{organisation, run};
use driver::Browser;

const PAGES: [&str; 11] = [
    "/",
    "/explore",
    "/fleet",
    "/workloads",
    "/plan",
    "/spot",
    "/commitments",
    "/serving",
    "/idle",
    "/prices",
    "/data",
];

/// A browser and the organisation that is served to it; none, with a word, where there is no browser.
struct Desk {
    browser: Browser,
    served: Served,
}

impl Desk {
    fn new() -> Option<Self> {
        if !driver::is_there() {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        organisation::write(dir.path());
        let load = run(dir.path(), &["load", "bill.csv", "usage.csv"]);
        assert_eq!(load.code, 0, "{}", load.stderr);
        let served = Served::new(dir);
        Some(Self {
            browser: Browser::start(),
            served,
        })
    }

    fn open(&self, path: &str) -> &Browser {
        self.browser.open(&format!("http://{}{path}", self.served.address));
        &self.browser
    }
}

#[test]
fn every_page_is_reached_is_whole_and_asks_nobody_else() {
    let Some(desk) = Desk::new() else { return };
    for path in PAGES {
        desk.open("/");
        let browser = &desk.browser;
        browser.follow(&format!(".side a[href='{path}']:not(.brand)"));
        assert_eq!(browser.text("location.pathname"), path);
        let faults = browser.run(include_str!("browser/whole.js"));
        assert_eq!(faults, serde_json::json!([]), "{path}");
        browser.until("!document.querySelector('[data-plot]:not(:has(svg.main-svg))')");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn every_page_fits_every_width_and_its_navigation_is_reached() {
    let Some(desk) = Desk::new() else { return };
    for (width, height) in [(360, 740), (768, 1024), (1400, 900), (2560, 1440)] {
        desk.browser.size(width, height);
        for path in PAGES {
            let browser = desk.open(path);
            let wide = browser.value("[document.documentElement.scrollWidth, innerWidth]");
            assert!(wide[0].as_u64() <= wide[1].as_u64(), "{path} at {width}: {wide}");
            browser.until(
                "[...document.querySelectorAll('[data-plot]')].every(plot => plot.querySelector('svg.main-svg')?.getBoundingClientRect().right <= innerWidth)",
            );
        }
        let browser = desk.open("/");
        if width < 700 {
            browser.click("[data-menu]");
        }
        browser.follow(".side a[href='/idle']");
        assert_eq!(browser.text("location.pathname"), "/idle", "at {width}");
    }
}

#[test]
fn light_and_dark_can_be_read_and_the_choice_is_kept() {
    let Some(desk) = Desk::new() else { return };
    let ground = "getComputedStyle(document.documentElement).backgroundColor";
    for (scheme, colour) in [("light", "rgb(255, 255, 255)"), ("dark", "rgb(14, 20, 24)")] {
        desk.browser.system_likes(scheme);
        for path in PAGES {
            let browser = desk.open(path);
            assert_eq!(browser.text(ground), colour, "{path} {scheme}");
            let weak = browser.run(include_str!("browser/contrast.js"));
            assert_eq!(weak, serde_json::json!([]), "{path} {scheme}");
        }
    }
    let browser = desk.open("/");
    browser.click("[data-theme-button]");
    assert_eq!(browser.text(ground), "rgb(255, 255, 255)", "chosen against the system");
    desk.open("/fleet");
    assert_eq!(browser.text(ground), "rgb(255, 255, 255)", "and kept");
}

#[test]
fn what_has_the_focus_shows_it() {
    let Some(desk) = Desk::new() else { return };
    let browser = desk.open("/explore");
    let look = "(() => { const e = document.activeElement, s = getComputedStyle(e); \
                return [e.tagName, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]; })()";
    for stop in 0..40 {
        browser.keys("\u{e004}");
        let seen = browser.value(look);
        assert!(seen[0] == "BODY" || seen[1] == true, "stop {stop}: {seen}");
    }
}

#[test]
fn days_filters_and_drill_are_in_the_address_and_back_works() {
    let Some(desk) = Desk::new() else { return };
    let browser = desk.open("/explore");
    browser.run(
        "const s = document.querySelector('select[name=period]'); s.value = '7d'; \
                 s.dispatchEvent(new Event('change', {bubbles: true}));",
    );
    browser.until("location.search.includes('period=7d') && document.documentElement.dataset.ready !== undefined");
    assert_eq!(
        browser.text("document.querySelector('select[name=period]').value"),
        "7d"
    );
    browser.follow("tbody tr:not(.total) td a[href*='only=team']");
    let filtered = browser.text("location.href");
    assert!(
        filtered.contains("only=team") && filtered.contains("period=7d"),
        "{filtered}"
    );
    assert_eq!(browser.value("document.querySelectorAll('.chip').length"), 1);
    browser.follow("[data-grid] tbody tr:not(.total) td a");
    let deeper = browser.text("location.href");
    assert_ne!(deeper, filtered);
    browser.back();
    assert_eq!(browser.text("location.href"), filtered);
    browser.follow(".chip");
    assert_eq!(browser.value("document.querySelectorAll('.chip').length"), 0);
    assert!(browser.text("location.search").contains("period=7d"), "the days stay");
}

#[test]
fn a_saved_table_is_the_one_on_the_screen() {
    let Some(desk) = Desk::new() else { return };
    let browser = desk.open("/explore?by=resource&period=all");
    let shown = browser.text(
        "[...document.querySelectorAll('main > .grid tbody tr')].map(r => [...r.cells].map(c => c.textContent.replace(/,/g, '')).join(',')).join('\\n')",
    );
    let path = browser.text(
        "new URL(document.querySelector('main > .grid [data-save]').href).pathname \
                             + new URL(document.querySelector('main > .grid [data-save]').href).search",
    );
    let saved = desk.served.get(&path).body;
    let rows: Vec<&str> = saved.lines().skip(1).collect();
    assert!(rows.len() > 3, "{saved}");
    assert_eq!(rows.join("\n"), shown);
}

#[test]
fn a_step_is_approved_and_the_approval_taken_back() {
    let Some(desk) = Desk::new() else { return };
    let plan = desk.served.json("/api/v1/plan");
    let steps = plan["steps"].as_array().unwrap().iter();
    let mut forms = steps.map(|step| step["id"].as_str().unwrap()).filter(|step| {
        desk.open(&format!("/plan?step={step}"));
        desk.browser.value("!!document.querySelector('.decide .primary')") == true
    });
    forms.next().expect("a step that can be approved");
    desk.browser.follow(".decide .primary");
    let said = |word: &str| {
        desk.browser
            .text("document.querySelector('.decide').textContent")
            .contains(word)
    };
    assert!(said("Approved, not applied by Lowwater"));
    desk.browser.follow(".decide button[type=submit]");
    assert!(!said("Approved, not applied") && said("Approve for"));
}

#[test]
fn keys_find_move_and_follow() {
    let Some(desk) = Desk::new() else { return };
    let browser = desk.open("/explore?by=day&period=all");
    let row = "[...document.querySelectorAll('[data-grid] tbody tr')].filter(r => r.checkVisibility()).indexOf(document.activeElement)";
    browser.keys("jjk");
    assert_eq!(browser.value(row), 0, "down, down, up");
    browser.keys("/2026-10-07");
    assert_eq!(browser.value("document.activeElement.matches('[data-find]')"), true);
    let left = "[...document.activeElement.closest('[data-grid]').querySelectorAll('tbody tr:not(.total)')].filter(r => !r.hidden).length";
    assert_eq!(browser.value(left), 1, "one row is left");
    browser.keys("\u{e00c}jj");
    browser.turn(|| browser.keys("\u{e007}"));
    assert!(browser.text("location.search").contains("only=day"));
}

/// Generous where a debug build shares its machine with other tests: three times what is promised.
#[test]
fn the_first_paint_is_soon() {
    let Some(desk) = Desk::new() else { return };
    for path in PAGES {
        desk.open(path);
        let browser = desk.open(path);
        browser.until("performance.getEntriesByName('first-contentful-paint').length");
        let paint = browser.value("performance.getEntriesByName('first-contentful-paint')[0].startTime");
        let waited =
            browser.value("(t => t.responseEnd - t.requestStart)(performance.getEntriesByType('navigation')[0])");
        let (paint, waited) = (paint.as_f64().unwrap(), waited.as_f64().unwrap());
        eprintln!("{path}: first paint {paint:.0} ms, of which the server {waited:.0} ms");
        assert!(paint < 3600.0, "{path}: first paint after {paint} ms");
    }
}
