//! Loads as processes of their own: killed at any moment, two at once, without rights, on a full disk, in bounded memory.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::faults::peak_mib;
use super::sample::{Dice, HEADER, charges, csv};
use super::*;

/// What a child is to do: `bill|data`.
const TASK: &str = "LOWWATER_TEST_LOAD";

/// Not a test by itself: the tests below start this binary again to load in a process of its own.
#[test]
fn child() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let (bill, data) = task.split_once('|').unwrap();
    let result = load(
        Path::new(data),
        &request(Path::new(bill)),
        &Policy::defaults(&[]),
        &Quiet,
    );
    println!("peak {} MiB", peak_mib());
    if let Err(error) = result {
        println!("exit {}: {error}", error.exit_code());
        std::process::exit(i32::from(error.exit_code()));
    }
}

fn command(program: &[&str], bill: &Path, data: &Path) -> Command {
    let binary = std::env::current_exe().unwrap();
    let mut words = program.iter().map(std::ffi::OsString::from).chain([binary.into()]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command.args(["--exact", "load::tests::process::child", "--nocapture"]);
    command.env(TASK, format!("{}|{}", bill.display(), data.display()));
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn start(bill: &Path, data: &Path) -> Child {
    command(&[], bill, data).spawn().unwrap()
}

/// Exit code and output.
fn end(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn killed_at_any_moment_leaves_the_old_or_the_new_state() {
    let store = Store::new();
    let all = charges(6000, 20);
    let old = store.file("old.csv", csv(&all[..5950]));
    let new = store.file("new.csv", csv(&all));
    let begun = Instant::now();
    assert_eq!(end(start(&old, &store.data())).0, Some(0));
    let whole = begun.elapsed();
    let sum = |rows: usize| all[..rows].iter().map(|c| c.billed).sum::<i128>();
    let mut killed = 0;
    for step in 0..12_u32 {
        let mut load = start(&new, &store.data());
        std::thread::sleep(whole * step / 10);
        killed += u32::from(load.try_wait().unwrap().is_none());
        load.kill().unwrap();
        load.wait().unwrap();
        let rows = store.content("charges").len();
        assert!(rows == 5950 || rows == 6000, "{rows} rows after step {step}");
        assert_eq!(store.sum("charges", "BilledCost"), sum(rows));
        assert_eq!(store.sum("daily", "BilledCost"), sum(rows));
        if rows == 6000 {
            // Back to the old state for the next step.
            let back = LoadRequest {
                existing: Existing::Replace,
                ..request(&old)
            };
            store.load_as(&back).unwrap();
        }
    }
    assert!(killed >= 5, "only {killed} loads were caught alive");
    store.load(&new).unwrap();
    assert_eq!(store.sum("charges", "BilledCost"), sum(6000));
}

#[test]
fn two_loads_at_once_follow_each_other() {
    let store = Store::new();
    let all = charges(4000, 21);
    let part = |month: u64| all.iter().filter(move |c| c.month == month);
    let files = [store.file("10.csv", csv(part(10))), store.file("11.csv", csv(part(11)))];
    let loads: Vec<Child> = files.iter().map(|file| start(file, &store.data())).collect();
    for load in loads {
        let (code, output) = end(load);
        assert_eq!(code, Some(0), "{output}");
    }
    assert_eq!(store.content("charges").len(), 4000);
    assert_eq!(store.layout().manifest().unwrap().version, 2);
}

#[test]
fn a_reader_keeps_its_version_while_a_load_replaces_it() {
    let store = Store::new();
    let all = charges(2000, 22);
    store.load(&store.file("a.csv", csv(&all[..1950]))).unwrap();
    let reader = store.layout().snapshot().unwrap();
    for (number, rows) in [1960, 1970, 2000].into_iter().enumerate() {
        let (code, output) = end(start(
            &store.file(&format!("{number}.csv"), csv(&all[..rows])),
            &store.data(),
        ));
        assert_eq!(code, Some(0), "{output}");
    }
    assert!(
        reader.files("charges").iter().all(|file| file.exists()),
        "files of a pinned version stay"
    );
    assert_eq!(store.content("charges").len(), 2000);
}

/// Am I root, as in CI? What needs it is skipped aloud otherwise.
fn is_root(what: &str) -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    let root = id.stdout == b"0\n";
    if !root {
        eprintln!("skipped: {what} (not root)");
    }
    root
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_without_rights_is_named() {
    use std::os::unix::fs::PermissionsExt;

    if !is_root("a directory without rights") {
        return;
    }
    let store = Store::new();
    let bill = store.file("bill.csv", csv(&charges(50, 23)));
    std::fs::create_dir(store.data()).unwrap();
    let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    open(store.dir.path());
    let nobody = ["setpriv", "--reuid", "nobody", "--clear-groups"];
    let (code, output) = end(command(&nobody, &bill, &store.data()).spawn().unwrap());
    assert_eq!(code, Some(4), "{output}");
    assert!(
        output.contains("Permission denied") && output.contains("data/store"),
        "{output}"
    );
    let secret = store.file("secret.csv", csv(&charges(50, 23)));
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (code, output) = end(command(&nobody, &secret, &store.data()).spawn().unwrap());
    assert_eq!(code, Some(3), "{output}");
    assert!(
        output.contains("secret.csv: can't be read: Permission denied"),
        "{output}"
    );
}

/// A file system of its own, as small as said.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir_all(&at).unwrap();
        let size = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&at)
            .status();
        let mounted = mounted.is_ok_and(|status| status.success());
        if !mounted {
            eprintln!("skipped: a full disk (no right to mount)");
        }
        mounted.then_some(Self(at))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_state() {
    if !is_root("a full disk") {
        return;
    }
    let store = Store::new();
    let Some(_disk) = SmallDisk::mount(store.data(), "640k") else {
        return;
    };
    let all = charges(30_000, 24);
    store.load(&store.file("small.csv", csv(&all[..300]))).unwrap();
    let before = store.content("charges");
    let said = store.refusal(&store.file("large.csv", csv(&all)));
    assert!(
        said.starts_with("exit 4:") && said.contains("No space left on device"),
        "{said}"
    );
    assert_eq!(store.content("charges"), before);
    store.load(&store.file("next.csv", csv(&all[..320]))).unwrap();
    assert_eq!(store.content("charges").len(), 320, "there is room again");
}

/// 100,000 rows as wide and as varied as a real bill: 93 MB.
fn large_bill(path: &Path) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    writeln!(file, "{HEADER},InvoiceId,x_Usage,x_Operation,x_Uuid").unwrap();
    let mut dice = Dice(25);
    for charge in charges(100_000, 25) {
        let noise: String = (0..8)
            .map(|_| format!("{:08x}", dice.roll(u64::from(u32::MAX))))
            .collect();
        let arn = format!("arn:aws:ec2:us-east-1:123456789012:instance/{}", dice.roll(20_000));
        writeln!(
            file,
            "{},INV-2026-10,\"{}\",\"{arn}/{}\",{noise}-{noise}-{noise}",
            charge.text,
            "BoxUsage:".repeat(12),
            "RunInstances/".repeat(8)
        )
        .unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_thousand_rows_in_256_mib() {
    let store = Store::new();
    let bill = store.dir.path().join("large.csv");
    large_bill(&bill);
    assert!(std::fs::metadata(&bill).unwrap().len() > 80_000_000);
    let (code, output) = end(start(&bill, &store.data()));
    assert_eq!(code, Some(0), "{output}");
    let peak = output.lines().find_map(|line| line.split_once("peak ")).unwrap().1;
    let peak: i64 = peak.split(' ').next().unwrap().parse().unwrap();
    assert!(peak < 256, "{peak} MiB");
    assert!(peak > 20, "{peak} MiB is not a measurement");
    assert_eq!(store.count("daily", "x_Rows"), 100_000);
}
