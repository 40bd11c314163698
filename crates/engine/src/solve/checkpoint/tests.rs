use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::sample::random::Dice;
use crate::shared;

#[test]
fn lambert_inverts_w_exp_w_on_a_grid_and_at_the_branch_point() {
    assert_eq!(lambert_w0(0.0), 0.0);
    assert!((lambert_w0(E) - 1.0).abs() < 1e-15);
    assert!((lambert_w0(1.0) - 0.567_143_290_409_783_8).abs() < 1e-15);
    assert!(
        (lambert_w0(-1.0 / E) + 1.0).abs() < 1e-7,
        "half of the digits at the branch point"
    );
    assert!(lambert_w0(-0.4).is_nan() && lambert_w0(f64::NAN).is_nan());
    for step in 1..=4000 {
        let w = f64::from(step).mul_add(0.005, -1.0);
        let x = w * w.exp();
        // Near -1 the function is steep: an error in x grows by 1 / (1 + w).
        let tolerance = 1e-14 * (1.0 + w.abs()) / (1.0 + w).min(1.0);
        assert!((lambert_w0(x) - w).abs() <= tolerance, "w = {w}: {}", lambert_w0(x));
    }
}

#[test]
fn the_best_interval_keeps_its_digits_near_the_branch_point() {
    for exponent in 1..=14 {
        let c = 10.0_f64.powi(-exponent);
        let y = above_branch(c);
        let by_series = (2.0 * c).sqrt() - 2.0 / 3.0 * c + (2.0 * c).powf(1.5) / 36.0;
        assert!(
            ((y - by_series) / y).abs() < 2.0 * c + 2.0 * f64::EPSILON / y,
            "c = {c}: {y} against {by_series}"
        );
    }
    assert_eq!(best_interval(6.0, 0.0), 0.0);
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap()
}

#[test]
fn every_row_of_the_interval_table() {
    let Some(rows) = shared::rows("spot/expected/checkpoint_interval.csv") else {
        return;
    };
    assert_eq!(rows.len(), 45);
    for row in &rows {
        let mean_hours = number(row, "mtbf_h");
        // 148.8 seconds stand in the table as 0.041333 hours.
        let checkpoint_hours = if row["ckpt_cost_h"] == "0.041333" {
            148.8 / 3600.0
        } else {
            number(row, "ckpt_cost_h")
        };
        let given = |during_restart| Interruptions {
            mean_hours,
            checkpoint_hours,
            restart_hours: number(row, "restart_h"),
            wait_hours: 0.0,
            during_restart,
        };
        let best = best_interval(mean_hours, checkpoint_hours);
        // The table's last three columns are without interruptions in a restart, whatever the text beside it says:
        // 0.72, 0.00175, 0.1 at 0.25 h is 0.82 x (e^(0.25175 / 0.72) - 1) / 0.25 = 1.372926.
        let stretched = |tau| given(false).stretch(tau);
        for (column, value) in [
            ("young_tau_h", young_interval(mean_hours, checkpoint_hours)),
            ("daly_tau_h", daly_interval(mean_hours, checkpoint_hours)),
            ("exact_tau_h", best),
            ("stretch_at_exact_no_failure_in_restart", given(false).stretch(best)),
            ("stretch_at_exact_failure_in_restart", given(true).stretch(best)),
            ("stretch_at_0.25h", stretched(0.25)),
            ("stretch_at_1h", stretched(1.0)),
            ("stretch_at_24h", stretched(24.0)),
        ] {
            let expected = number(row, column);
            let tolerance = 5.1e-7 + expected.abs() * 1e-12;
            assert!(
                (value - expected).abs() <= tolerance,
                "{column} is {value}, not {expected}: {row:?}"
            );
        }
    }
}

/// Runs the work once, hour by random hour.
fn run(costs: &Interruptions, work: f64, interval: f64, dice: &mut Dice) -> Expected {
    let mut done = Expected::default();
    let mut left = work;
    let mut next = dice.exponential(costs.mean_hours);
    while left > 1e-9 {
        let need = left.min(interval) + costs.checkpoint_hours;
        if next >= need {
            (done.machine_hours, next, left) = (done.machine_hours + need, next - need, left - interval);
            continue;
        }
        done.machine_hours += next;
        loop {
            done.interruptions += 1.0;
            done.wall_hours += costs.wait_hours;
            next = dice.exponential(costs.mean_hours);
            if !costs.during_restart {
                done.machine_hours += costs.restart_hours;
                break;
            }
            if next >= costs.restart_hours {
                (done.machine_hours, next) = (done.machine_hours + costs.restart_hours, next - costs.restart_hours);
                break;
            }
            done.machine_hours += next;
        }
    }
    done.wall_hours += done.machine_hours;
    done
}

#[test]
fn a_seeded_simulation_agrees_within_its_error() {
    const RUNS: u32 = 4000;
    let mut dice = Dice::new(20_261_201);
    // Mean, work, interval, save, restart, wait; the first three are those of the reference.
    for (mean_hours, work, interval, checkpoint_hours, restart_hours, wait_hours, machine) in [
        (6.1, 48.0, 1.0, 0.1, 0.2, 0.0, Some([59.7573, 59.7887])),
        (2.26, 48.0, 0.5, 0.05, 0.2, 1.5, None),
        (24.0, 504.0, 1.0, 0.05, 0.25, 3.0, None),
        (3.0, 10.0, 4.0, 0.2, 2.0, 0.5, None),
    ] {
        for during_restart in [false, true] {
            let costs = Interruptions {
                mean_hours,
                checkpoint_hours,
                restart_hours,
                wait_hours,
                during_restart,
            };
            let expected = costs.expected(work, Some(interval));
            if let Some(known) = machine {
                assert!((expected.machine_hours - known[usize::from(during_restart)]).abs() < 5e-5);
            }
            let runs: Vec<Expected> = (0..RUNS).map(|_| run(&costs, work, interval, &mut dice)).collect();
            let agree = |of: fn(&Expected) -> f64| {
                let mean = runs.iter().map(of).sum::<f64>() / f64::from(RUNS);
                let variance = runs.iter().map(|one| (of(one) - mean).powi(2)).sum::<f64>() / f64::from(RUNS - 1);
                let error = (variance / f64::from(RUNS)).sqrt();
                assert!(
                    (mean - of(&expected)).abs() < 3.5 * error,
                    "{costs:?}: {mean} +- {error}, not {expected:?}"
                );
            };
            agree(|one| one.machine_hours);
            agree(|one| one.wall_hours);
            agree(|one| one.interruptions);
        }
    }
}

fn costs() -> impl Strategy<Value = Interruptions> {
    (
        0.5..500.0_f64,
        0.0005..0.3_f64,
        0.0..2.0_f64,
        0.0..5.0_f64,
        any::<bool>(),
    )
        .prop_map(
            |(mean_hours, checkpoint_hours, restart_hours, wait_hours, during_restart)| Interruptions {
                mean_hours,
                checkpoint_hours,
                restart_hours,
                wait_hours,
                during_restart,
            },
        )
}

#[test]
fn what_nothing_interrupts_takes_its_time_and_its_saves() {
    let calm = Interruptions {
        mean_hours: f64::INFINITY,
        checkpoint_hours: 0.5,
        restart_hours: 1.0,
        wait_hours: 1.0,
        during_restart: true,
    };
    let expected = calm.expected(10.0, Some(4.0));
    assert_eq!(
        (expected.machine_hours, expected.wall_hours, expected.interruptions),
        (11.5, 11.5, 0.0)
    );
    let rare = Interruptions {
        mean_hours: 1e9,
        ..calm
    }
    .expected(10.0, Some(4.0));
    assert!((rare.machine_hours - 11.5).abs() < 1e-6);
    assert_eq!(best_interval(f64::INFINITY, 0.5), f64::INFINITY);
}

proptest! {
    #[test]
    fn no_other_interval_is_better(costs in costs(), other in 0.001..100.0_f64) {
        let best = best_interval(costs.mean_hours, costs.checkpoint_hours);
        prop_assert!(best > 0.0 && best < costs.mean_hours);
        prop_assert!(costs.stretch(best) <= costs.stretch(other) * (1.0 + 1e-12));
    }

    #[test]
    fn segments_sum_to_the_work(costs in costs(), whole in 1..200_u32, interval in 0.1..5.0_f64, rest in 0.01..0.99_f64) {
        let work = interval * (f64::from(whole) + rest);
        let all = costs.expected(work, Some(interval));
        let (full, last) = (costs.segment(interval), costs.segment(interval * rest));
        let sum = full.machine_hours * f64::from(whole) + last.machine_hours;
        prop_assert!((all.machine_hours / sum - 1.0).abs() < 1e-9);
        prop_assert!(all.machine_hours >= work && all.wall_hours >= all.machine_hours);
        // Interruptions come at their rate while the machine can be interrupted.
        let exposed = if costs.during_restart { all.machine_hours } else { all.machine_hours - costs.restart_hours * all.interruptions };
        prop_assert!((exposed / costs.mean_hours / all.interruptions - 1.0).abs() < 1e-9);
    }

    #[test]
    fn never_saving_is_one_segment_without_a_save(costs in costs(), work in 0.1..20.0_f64) {
        let free = Interruptions { checkpoint_hours: 0.0, ..costs };
        prop_assert_eq!(costs.expected(work, None), free.segment(work));
        prop_assert_eq!(costs.expected(work, Some(work)), costs.segment(work));
    }
}
