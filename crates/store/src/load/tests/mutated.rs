//! Damaged files: whatever is broken in them, a load ends in the new state with sums that tie out, or in the old one.
//!
//! Seeded, so that a fault comes back. `LOWWATER_FUZZ_ROUNDS` asks for more than the everyday rounds.

use super::forms::{exported, gzip};
use super::sample::{Dice, charges, csv};
use super::*;

/// Everyday rounds for each form of file.
const ROUNDS: u64 = 30;

/// What readers of numbers, times, quotes and encodings stumble over.
const TOKENS: &[&[u8]] = &[
    b"\"",
    b"\n",
    b"\r",
    b",",
    b"{",
    b"}",
    b"\\",
    b"=",
    b"-",
    b"1e308",
    b"-1E-400",
    b"NaN",
    b"9223372036854775808",
    b"9999-12-31T23:59:60Z",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x92\xb8",
    b"BilledCost",
    b"DCGM_FI_DEV_GPU_UTIL{",
];

const DCGM: &str = r#"# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1",modelName="NVIDIA A100"} 40 1785567600000
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a",Hostname="n1"} 0.25 1785567600000
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",Hostname="n1"} 1000 1785567600000
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a",Hostname="n1"} 7000 1785567600000
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",Hostname="n1"} 71.5 1785567600000
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1",GPU_I_ID="7",GPU_I_PROFILE="1g.10gb"} 50 1785567900000
"#;

const SMI: &str = "timestamp, index, uuid, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W]\n\
    2026/10/25 02:30:00.000, 0, GPU-a, 5 %, 100 MiB, 40960 MiB, 60.50 W\n\
    2026/10/25 02:35:00.000, 0, GPU-a, [N/A], 100 MiB, 40960 MiB, [N/A]\n\
    2026/10/25 02:40:00.000, 0, GPU-a, 97 %, 30000 MiB, 40960 MiB, 380.00 W\n";

const USAGE: &str = "time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n\
    2026-10-01T00:00:00Z,n1,0,0.5,SM_ACTIVE,100,40960,60.5\n\
    2026-10-01T01:00:00+02:00,n1,1,,,,,\n\
    2026-10-01T02:00:00Z,n2,GPU-b,1,GPU_UTIL,40960,40960,400\n";

/// Good files of every form, by name.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let text = csv(&charges(40, 5));
    let plain = Store::new();
    plain.load(&plain.file("bill.csv", &text)).unwrap();
    vec![
        ("bill.csv.zst", zstd::encode_all(text.as_bytes(), 3).unwrap()),
        ("bill.csv.gz", gzip(text.as_bytes())),
        ("bill.parquet", exported(&plain)),
        ("bill.csv", text.into_bytes()),
        ("scrape.prom", DCGM.into()),
        ("smi.csv", SMI.into()),
        ("usage.csv", USAGE.into()),
    ]
}

/// One wound of a file.
fn wound(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let mut place = |below: usize| dice.roll(below.max(1) as u64) as usize;
    let at = place(bytes.len());
    let end = (at + 1 + place(80)).min(bytes.len());
    match place(6) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << place(8),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let again = bytes[at..end].to_vec();
            drop(bytes.splice(at..at, again));
        }
        3 => bytes.truncate(at),
        _ => {
            let token = TOKENS[place(TOKENS.len())];
            drop(bytes.splice(at..at, token.iter().copied()));
        }
    }
}

/// Loads damaged bytes over a store that holds something. Says whether they were taken.
fn survives(store: &Store, name: &str, bytes: &[u8]) -> bool {
    let path = store.file(name, bytes);
    let before = store.layout().manifest().unwrap();
    let request = LoadRequest {
        source: Some("damaged".into()),
        existing: Existing::Replace,
        host: Some("n1".into()),
        tz: Some("Europe/Berlin".into()),
        at: Some("2026-10-01T09:00:00Z".parse().unwrap()),
        ..request(&path)
    };
    let Ok(report) = store.load_as(&request) else {
        assert_eq!(
            store.layout().manifest().unwrap(),
            before,
            "a failed load changes nothing"
        );
        assert!(!store.data().join("store/staging").exists());
        return false;
    };
    for unit in &report.units {
        for (metric, sum) in &unit.totals {
            let (file, residual) = (sum.file_text(), sum.residual_text());
            let mut again = ExactSum::default();
            for text in [sum.stored().full(), residual] {
                again.add(lowwater_model::money::Decimal::parse(&text).unwrap());
            }
            assert_eq!(again.file_text(), file, "{metric} of {}", unit.month);
        }
    }
    let stored: i128 = store
        .layout()
        .manifest()
        .unwrap()
        .bills
        .values()
        .filter_map(|unit| unit.totals.get("billed"))
        .map(|sum| sum.stored().units())
        .sum();
    for table in ["charges", "daily"] {
        let kept = if stored == 0 { 0 } else { store.sum(table, "BilledCost") };
        assert_eq!(kept, stored, "{table}");
    }
    store.rejects();
    true
}

#[test]
fn damaged_files_end_in_the_old_state_or_in_a_new_one_that_ties_out() {
    let rounds = std::env::var("LOWWATER_FUZZ_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    for (number, (name, good)) in seeds().into_iter().enumerate() {
        let store = Store::new();
        assert!(survives(&store, name, &good), "{name} is good");
        let mut taken = 0;
        for round in 0..rounds {
            let mut dice = Dice(round * 31 + number as u64);
            let mut bytes = good.clone();
            for _ in 0..=dice.roll(3) {
                wound(&mut bytes, &mut dice);
            }
            taken += u64::from(survives(&store, name, &bytes));
        }
        assert!(taken < rounds, "no wound of {name} was deep enough to be refused");
    }
}
