//! Every page of the dashboard as a picture: the sample organisation, in light and dark, wide and on a phone.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{cargo, say, stage};

const PAGES: [&str; 11] = [
    "week",
    "explore",
    "fleet",
    "workloads",
    "plan",
    "spot",
    "commitments",
    "serving",
    "idle",
    "prices",
    "data",
];

/// What is seen: name, width, height, and Chromium's word for what the system likes.
const LOOKS: [(&str, &str, u8); 3] = [
    ("light", "1400,900", 1),
    ("dark", "1400,900", 0),
    ("phone", "390,844", 1),
];

/// The dashboard while pictures are taken; it ends with this value.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Builds the program, makes the sample's data where there is none yet, and writes `target/screenshots/PAGE-LOOK.png`.
pub fn take() -> Result<(), String> {
    stage::build()?;
    let folder = cargo::target().join("screenshots");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let data = folder.join("data");
    if !data.join("plan.json").exists() {
        cargo::run(cargo::lowwater().args(["demo", "--no-serve", "--data"]).arg(&data))?;
    }
    let (_served, address) = serve(&data)?;
    for page in PAGES {
        for (look, size, scheme) in LOOKS {
            picture(
                &address,
                page,
                &folder.join(format!("{page}-{look}.png")),
                (size, scheme),
            )?;
        }
        say::line(&format!("{page}: {} pictures", LOOKS.len()));
    }
    Ok(())
}

fn serve(data: &Path) -> Result<(Served, String), String> {
    let mut command = cargo::lowwater();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("`lowwater serve` can't be started: {e}"))?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = BufReader::new(stdout).read_line(&mut line);
    }
    let served = Served(child);
    let address = line.split_whitespace().next().filter(|word| word.starts_with("http"));
    let address = address.ok_or("`lowwater serve` says no address")?.to_owned();
    Ok((served, address))
}

/// One picture; `how` is the size of the window and what the system likes.
fn picture(address: &str, page: &str, to: &Path, how: (&str, u8)) -> Result<(), String> {
    let path = if page == "week" { "" } else { page };
    let mut chromium = Command::new("chromium");
    chromium
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--hide-scrollbars",
            "--virtual-time-budget=8000",
            "--run-all-compositor-stages-before-draw",
        ])
        .arg(format!("--window-size={}", how.0))
        .arg(format!("--blink-settings=preferredColorScheme={}", how.1))
        .arg(format!("--screenshot={}", to.display()))
        .arg(format!("{address}{path}"));
    if cargo::succeeds(&mut chromium) && to.exists() {
        return Ok(());
    }
    Err(format!(
        "no picture of {page}: {}\nhint: install Chromium (Debian: chromium)",
        to.display()
    ))
}
