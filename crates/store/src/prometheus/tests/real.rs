//! Against a real Prometheus: backfilled by promtool, started on a free port, ended with the test.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::*;

/// A Prometheus that runs; it ends with this value.
struct Running {
    child: Child,
    port: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Is the program on the PATH? Without it the case is skipped with a printed line; in CI that is an error.
fn there_is(program: &str) -> bool {
    let mut command = Command::new(program);
    let found = command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if found.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "{program} is needed in CI");
    eprintln!("skipped: {program} (no prometheus)");
    false
}

impl Running {
    fn with(exposition: &str, directory: &Path) -> Self {
        let (text, blocks, config) = (
            directory.join("text"),
            directory.join("blocks"),
            directory.join("prometheus.yml"),
        );
        std::fs::write(&text, exposition).unwrap();
        std::fs::write(&config, "global:\n  external_labels:\n    cluster: eu-1\n").unwrap();
        let made = Command::new("promtool")
            .args(["tsdb", "create-blocks-from", "openmetrics"])
            .args([&text, &blocks])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = std::fs::File::create(directory.join("log")).unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", blocks.display()))
            // Far more than the age of the samples: they have fixed dates.
            .arg("--storage.tsdb.retention.time=20y")
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stderr(log)
            .spawn()
            .unwrap();
        let running = Self { child, port };
        running.wait(directory);
        running
    }

    fn wait(&self, directory: &Path) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_mins(1) {
            let ready = ureq::get(format!("http://127.0.0.1:{}/-/ready", self.port)).call();
            if ready.is_ok_and(|answer| answer.status() == 200) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!(
            "Prometheus is not ready:\n{}",
            std::fs::read_to_string(directory.join("log")).unwrap_or_default()
        );
    }
}

#[test]
fn a_real_server_gives_the_hours_of_its_file() {
    if !there_is("prometheus") || !there_is("promtool") {
        return;
    }
    let mut gpus = gpus();
    gpus.gap = DAY + 5 * HOUR + 600..DAY + 9 * HOUR;
    let nodes = "# TYPE kube_node_info gauge\n";
    let node = |at: i64| format!("kube_node_info{{node=\"n1\",provider_id=\"aws:///us-east-1a/i-0abc\"}} 1 {at}\n");
    let nodes: String = std::iter::once(nodes.to_owned())
        .chain((DAY..DAY + 60 * HOUR).step_by(600).map(node))
        .collect();
    let samples = gpus.exposition();
    let directory = tempfile::tempdir().unwrap();
    let running = Running::with(&(nodes + &samples), directory.path());

    let mut lab = Lab::new(&[format!("http://127.0.0.1:{}", running.port)]);
    let report = lab.until(DAY + 40 * HOUR + 1200).load();
    let server = &report.servers[0];
    assert_eq!(
        (server.source.as_str(), server.retention.as_deref()),
        ("prometheus/eu-1", Some("20y"))
    );
    assert!(
        server
            .oldest
            .is_some_and(|oldest| oldest <= at(DAY) && oldest >= at(DAY - 2 * HOUR)),
        "{server:?}"
    );
    lab.limits.points = 500;
    lab.until(DAY + 70 * HOUR).load();
    assert_eq!(lab.hours(), as_files(&samples, "eu-1"));
    let ids = &lab.manifest().usage["prometheus/eu-1/2026-10"].provider_ids;
    assert!(
        ids["eu-1/n1"].contains("aws:///us-east-1a/i-0abc") && ids.len() == 1,
        "{ids:?}"
    );

    // In one go and from the oldest sample, with the pages that a real server bounds.
    let mut whole = Lab::new(&[format!("http://127.0.0.1:{}", running.port)]);
    whole.limits.points = 20_000;
    whole.request.server.step_seconds = Some(5);
    whole.request.server.start = Some(at(DAY));
    whole.until(DAY + 24 * HOUR).load();
    assert_eq!(
        whole.hours().len(),
        lab.hours().iter().filter(|h| h.second() < DAY + 24 * HOUR).count()
    );
}
