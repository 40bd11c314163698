//! The published spot table of one p4d for three weeks: which of its rows follow from its own words, which do not, and
//! the right numbers of those that do not.

use std::collections::BTreeMap;

use crate::shared;
use crate::solve::checkpoint::{Interruptions, Loss, break_even_interruptions, hours_given};

const WORK: f64 = 504.0;
const ON_DEMAND: f64 = 32.77;
const SPOT: f64 = 11.47;

/// So many interruptions in the work, with free saves and a restart of so many hours.
fn costs(interruptions: f64, restart_hours: f64) -> Interruptions {
    Interruptions {
        mean_hours: WORK / interruptions,
        checkpoint_hours: 0.0,
        restart_hours,
        wait_hours: 0.0,
        during_restart: false,
    }
}

fn hours(interruptions: f64, interval: f64, restart_hours: f64, loss: Loss) -> f64 {
    hours_given(WORK, interval, interruptions, &costs(interruptions, restart_hours), loss)
}

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value}, not {expected}");
}

#[test]
fn every_row_by_both_models() {
    let Some(rows) = shared::rows("spot/expected/article_spot_table.csv") else {
        return;
    };
    assert_eq!(rows.len(), 5);
    for row in &rows {
        let number = |column: &str| row[column].parse::<f64>().unwrap();
        let (price, stated) = (number("stated_rate_usd_h"), number("stated_hours"));
        close(price * stated, number("rate_x_hours_usd"), 0.005);
        if number("evictions") > 0.0 {
            interrupted(row, price, stated);
        }
    }
}

fn interrupted(row: &BTreeMap<String, String>, price: f64, stated: f64) {
    let number = |column: &str| row[column].parse::<f64>().unwrap();
    let (count, interval) = (number("evictions"), number("interval_h"));
    close((stated - WORK) / count, number("implied_hours_per_eviction"), 0.05);
    close(hours(count, interval, 4.0, Loss::Mean), number("linear_R4_mean_loss_h"), 1e-9);
    close(hours(count, interval, 8.0, Loss::Mean), number("linear_R8_mean_loss_h"), 1e-9);
    close(hours(count, interval, 8.0, Loss::Mean) * price, number("linear_R8_mean_loss_usd"), 0.006);
    let expected = costs(count, 8.0).expected(WORK, Some(interval)).machine_hours;
    close(expected, number("exponential_R8_h"), 5e-4);
    close(expected * price, number("exponential_R8_usd"), 0.006);
}

#[test]
fn what_follows() {
    close(ON_DEMAND * WORK, 16_516.08, 1e-9);
    close(ON_DEMAND * 0.35, 11.4695, 1e-9);
    close(SPOT * WORK, 5_780.88, 1e-9);
    close(16_516.0 - 5_975.0, 10_541.0, 0.0);
    close(16_516.0 - 7_159.0, 9_357.0, 0.0);
}

#[test]
fn four_hours_of_recovery_are_512_hours_and_not_521() {
    close(WORK + 2.0 * 4.0, 512.0, 0.0);
    close(512.0 * SPOT, 5_872.64, 1e-9);
    close(hours(2.0, 1.0, 8.0, Loss::Mean), 521.0, 1e-9);
    close(hours(5.0, 1.0, 8.0, Loss::Mean), 546.5, 1e-9);
}

#[test]
fn daily_saves_lose_whole_days_or_have_other_numbers() {
    close(hours(5.0, 24.0, 0.0, Loss::Worst), 624.0, 1e-9);
    close(624.0 * SPOT, 7_157.28, 1e-9);
    close(hours(5.0, 24.0, 8.0, Loss::Mean), 604.0, 1e-9);
    close(604.0 * SPOT, 6_927.88, 1e-9);
    close(624.0 - 547.0, 77.0, 0.0);
}

#[test]
fn five_more_interruptions_do_not_erase_the_saving() {
    let ten = hours(10.0, 24.0, 0.0, Loss::Worst);
    close(ten, 744.0, 1e-9);
    close(ten * SPOT, 8_533.68, 1e-9);
    close(1.0 - ten * SPOT / (ON_DEMAND * WORK), 0.4833, 5e-5);
    close(break_even_interruptions(WORK, 0.65, 24.0), 39.0, 1e-9);
    close(break_even_interruptions(WORK, 0.65, 8.6), 108.84, 5e-3);
}

#[test]
fn ten_percent_a_month_is_far_from_two_interruptions() {
    let rate = -(1.0_f64 - 0.1).ln() / 730.0;
    close(rate * WORK, 0.073, 5e-4);
    close(8.0 * rate * WORK, 0.58, 5e-3);
}

#[test]
fn the_cluster_has_four_machines_and_not_one() {
    close(ON_DEMAND * 730.0, 23_922.1, 1e-9);
    close(4.0 * ON_DEMAND * 730.0, 95_688.4, 1e-9);
}
