//! Inference: a chat service with a day and a night, a code assistant with office hours, nightly embeddings, and many small models.

use lowwater_model::workload::Class;

use super::clock::{HOURS, LocalHour, local};
use super::dice::Dice;
use super::machine::{Machine, State, Work, runs_of};
use super::places::{CHAT, CHAT_SECOND_ZONE, CODE, MODELS, Place, SERVING_EAST};

/// Requests of the chat service by UTC hour, in thousandths of its peak: two continents, one long day.
const CHAT_DAY: [i64; 24] = [
    520, 440, 370, 310, 280, 290, 350, 440, 540, 620, 670, 690, 720, 790, 880, 950, 990, 1000, 980, 930, 860, 780, 690,
    600,
];

/// Requests of the code assistant by New York hour: nobody asks at night.
const CODE_DAY: [i64; 24] = [
    20, 10, 10, 10, 15, 40, 120, 300, 620, 880, 1000, 980, 800, 900, 970, 960, 900, 760, 520, 330, 210, 130, 80, 40,
];

/// An endpoint whose replicas follow its requests.
struct Endpoint {
    place: &'static Place,
    sku: &'static str,
    name: &'static str,
    team: &'static str,
    model: &'static str,
    zone: &'static str,
    day: &'static [i64; 24],
    /// Requests on weekends, in thousandths of those on working days.
    weekend: i64,
    /// Requests a minute at the first day's peak.
    peak: i64,
    /// What the last day has more than the first, in thousandths.
    growth: i64,
    /// Requests a minute that one replica can take.
    capacity: i64,
    /// Fewest and most replicas.
    replicas: (usize, usize),
    memory_mib: u32,
    /// What follows the name in the host of its metrics.
    host: &'static str,
}

const CHAT_ENDPOINT: Endpoint = Endpoint {
    place: CHAT,
    sku: "a2-highgpu-1g",
    name: "chat",
    team: "assistant",
    model: "chat-13b",
    zone: "UTC",
    day: &CHAT_DAY,
    weekend: 720,
    peak: 2_400,
    growth: 180,
    capacity: 160,
    replicas: (8, 30),
    memory_mib: 33_400,
    host: ".us-central1-a.c.fernhollow-chat.internal",
};

const CODE_ENDPOINT: Endpoint = Endpoint {
    place: CODE,
    sku: "g2-standard-4",
    name: "code",
    team: "platform",
    model: "code-7b",
    zone: "America/New_York",
    day: &CODE_DAY,
    weekend: 80,
    peak: 3_000,
    growth: 120,
    capacity: 140,
    replicas: (3, 40),
    memory_mib: 17_600,
    host: "",
};

/// Highest share of its capacity, in thousandths, that a replica is given.
const TARGET: i64 = 700;

/// Requests a minute of the chat endpoint, hour by hour.
pub fn chat_requests(seed: u64) -> Vec<i64> {
    CHAT_ENDPOINT.requests(seed)
}

/// All machines that serve.
pub fn machines(seed: u64) -> Vec<Machine> {
    let mut machines = CHAT_ENDPOINT.machines(seed);
    machines.extend(standby(seed));
    machines.extend(CODE_ENDPOINT.machines(seed));
    machines.extend(embeddings(seed));
    machines.extend(small_models(seed));
    machines
}

impl Endpoint {
    fn requests(&self, seed: u64) -> Vec<i64> {
        let mut dice = Dice::new(seed, self.name);
        let clock = local(self.zone);
        clock
            .iter()
            .enumerate()
            .map(|(hour, at)| {
                let grown = self.peak * (1000 + self.growth * hour as i64 / HOURS as i64) / 1000;
                let day = grown * self.day[usize::from(at.hour)] / 1000;
                let day = if at.is_weekend() {
                    day * self.weekend / 1000
                } else {
                    day
                };
                dice.around(day, 50)
            })
            .collect()
    }

    fn replicas(&self, requests: i64) -> usize {
        let needed = (requests * 1000).div_euclid(self.capacity * TARGET) + 1;
        (needed as usize).clamp(self.replicas.0, self.replicas.1)
    }

    fn machines(&self, seed: u64) -> Vec<Machine> {
        let requests = self.requests(seed);
        let counts: Vec<usize> = requests.iter().map(|r| self.replicas(*r)).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        (1..=most)
            .map(|number| self.replica(seed, number, &requests, &counts))
            .collect()
    }

    fn replica(&self, seed: u64, number: usize, requests: &[i64], counts: &[usize]) -> Machine {
        let name = format!("{}-{number:02}", self.name);
        let mut dice = Dice::new(seed, &name);
        let on: Vec<bool> = counts.iter().map(|count| *count >= number).collect();
        let mut machine = Machine::new(self.place, self.sku, &name, &mut dice)
            .tagged(&[
                ("team", self.team),
                ("project", self.name),
                ("environment", "prod"),
                ("model", self.model),
            ])
            .truth(Class::RealtimeInference, State::InUse);
        machine.host = Some(format!("{name}{}", self.host));
        machine.runs = runs_of(&on, &mut dice);
        machine.work = requests
            .iter()
            .zip(counts)
            .map(|(requests, count)| {
                if *count < number {
                    return Work::NONE;
                }
                let load = requests * 1000 / (self.capacity * *count as i64);
                Work::one_gpu(dice.around(load, 60), self.memory_mib)
            })
            .collect();
        machine
    }
}

/// Replicas in another zone that wait for the first to fail: loaded, idle, and not to be stopped.
fn standby(seed: u64) -> Vec<Machine> {
    (1..=3)
        .map(|number| {
            let name = format!("chat-standby-{number}");
            let mut dice = Dice::new(seed, &name);
            let mut machine = Machine::new(CHAT_SECOND_ZONE, "a2-highgpu-1g", &name, &mut dice)
                .tagged(&[
                    ("team", "assistant"),
                    ("project", "chat"),
                    ("environment", "prod"),
                    ("model", "chat-13b"),
                ])
                .truth(Class::RealtimeInference, State::Standby);
            machine.work = vec![Work::held(1, 33_400); HOURS];
            machine
        })
        .collect()
}

/// Twelve machines that embed the day's documents between 02:00 and 06:00 UTC, on some nights until half past five only.
fn embeddings(seed: u64) -> Vec<Machine> {
    let mut nights = Dice::new(seed, "embeddings");
    let long: Vec<bool> = (0..HOURS / 24).map(|_| nights.chance(700)).collect();
    let on: Vec<bool> = (0..HOURS)
        .map(|hour| match hour % 24 {
            2..=4 => true,
            5 => long[hour / 24],
            _ => false,
        })
        .collect();
    (1..=12)
        .map(|number| {
            let name = format!("embed-{number:02}");
            let mut dice = Dice::new(seed, &name);
            let mut machine = Machine::new(SERVING_EAST, "g6.xlarge", &name, &mut dice)
                .tagged(&[
                    ("team", "platform"),
                    ("project", "search"),
                    ("environment", "prod"),
                    ("model", "embed-large"),
                    ("purpose", "batch"),
                ])
                .truth(Class::BatchInference, State::InUse);
            machine.runs = runs_of(&on, &mut dice);
            machine.work = on
                .iter()
                .map(|on| {
                    if *on {
                        Work::one_gpu(dice.between(840, 960), 14_300)
                    } else {
                        Work::NONE
                    }
                })
                .collect();
            machine
        })
        .collect()
}

/// A model that has a GPU of its own and needs a tenth of it: name, activity in thousandths, MiB held.
struct Small(&'static str, i64, u32);

const SMALL_ON_G6: [Small; 5] = [
    Small("intent", 95, 2_300),
    Small("rerank", 140, 4_100),
    Small("toxicity", 85, 2_100),
    Small("ner", 110, 2_900),
    Small("language-id", 82, 2_050),
];
const SMALL_ON_G2: [Small; 5] = [
    Small("depth-s", 120, 3_800),
    Small("ocr", 145, 5_200),
    Small("speech-vad", 84, 2_200),
    Small("grasp-score", 105, 3_100),
    Small("pose", 130, 4_600),
];
const SMALL_ON_A100: [Small; 4] = [
    Small("summaries", 135, 5_900),
    Small("titles", 90, 4_400),
    Small("captions", 125, 5_500),
    Small("redaction", 100, 4_800),
];

fn small_models(seed: u64) -> Vec<Machine> {
    let clock = local("UTC");
    let fleets: [(&'static Place, &'static str, &[Small]); 3] = [
        (SERVING_EAST, "g6.xlarge", &SMALL_ON_G6),
        (MODELS, "g2-standard-4", &SMALL_ON_G2),
        (MODELS, "a2-highgpu-1g", &SMALL_ON_A100),
    ];
    let mut machines = Vec::new();
    for (place, sku, models) in fleets {
        machines.extend(
            models
                .iter()
                .map(|model| small_model(seed, (place, sku), model, &clock)),
        );
    }
    machines
}

fn small_model(seed: u64, on: (&'static Place, &'static str), model: &Small, clock: &[LocalHour]) -> Machine {
    let name = format!("sm-{}", model.0);
    let mut dice = Dice::new(seed, &name);
    let mut machine = Machine::new(on.0, on.1, &name, &mut dice)
        .tagged(&[
            ("team", "platform"),
            ("project", "small-models"),
            ("environment", "prod"),
            ("model", model.0),
        ])
        .truth(Class::RealtimeInference, State::Underused);
    machine.work = clock
        .iter()
        .map(|at| {
            // Eight tenths at night, twelve at noon.
            let of_day = 800 + 400 * CHAT_DAY[usize::from(at.hour)] / 1000;
            Work::one_gpu(dice.around(model.1 * of_day / 1000, 80).max(60), model.2)
        })
        .collect();
    machine
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(machines: &[Machine], hour: usize) -> usize {
        machines.iter().filter(|m| m.seconds(hour) > 0).count()
    }

    /// Mean of running replicas over the hours of a local hour on working days.
    fn mean_at(endpoint: &Endpoint, hour: u8) -> f64 {
        let machines = endpoint.machines(9);
        let clock = local(endpoint.zone);
        let hours: Vec<usize> = (0..HOURS)
            .filter(|h| clock[*h].hour == hour && !clock[*h].is_weekend())
            .collect();
        hours.iter().map(|h| running(&machines, *h)).sum::<usize>() as f64 / hours.len() as f64
    }

    #[test]
    fn chat_has_a_day_and_a_night_and_code_has_office_hours() {
        let (chat_peak, chat_night) = (mean_at(&CHAT_ENDPOINT, 17), mean_at(&CHAT_ENDPOINT, 4));
        assert!(
            chat_peak > 2.0 * chat_night && chat_night >= 8.0,
            "{chat_peak} {chat_night}"
        );
        let (code_peak, code_night) = (mean_at(&CODE_ENDPOINT, 10), mean_at(&CODE_ENDPOINT, 3));
        assert!(
            code_peak > 8.0 * code_night && code_night >= 3.0,
            "{code_peak} {code_night}"
        );
    }

    #[test]
    fn replicas_are_as_many_as_the_requests_need() {
        for endpoint in [&CHAT_ENDPOINT, &CODE_ENDPOINT] {
            let machines = endpoint.machines(9);
            for (hour, requests) in endpoint.requests(9).iter().enumerate() {
                let running = running(&machines, hour) as i64;
                let (fewest, most) = (endpoint.replicas.0 as i64, endpoint.replicas.1 as i64);
                let enough = running * endpoint.capacity * TARGET >= requests * 1000;
                let not_too_many = running == fewest || (running - 1) * endpoint.capacity * TARGET <= requests * 1000;
                assert!(enough || running == most, "{} hour {hour}", endpoint.name);
                assert!(not_too_many && running >= fewest, "{} hour {hour}", endpoint.name);
            }
        }
    }

    #[test]
    fn embeddings_run_at_night_only() {
        for machine in embeddings(9) {
            for hour in 0..HOURS {
                let on = machine.seconds(hour) > 0;
                assert!(!on || (2..6).contains(&(hour % 24)));
                assert!(on || !(2..5).contains(&(hour % 24)));
            }
        }
    }

    #[test]
    fn small_models_need_a_tenth_of_their_gpu() {
        let all = small_models(9);
        assert_eq!(all.len(), 14);
        for machine in &all {
            let mean = machine.work.iter().map(|w| i64::from(w.activity)).sum::<i64>() / HOURS as i64;
            assert!((75..=160).contains(&mean), "{} {mean}", machine.name);
            assert!(machine.work.iter().all(|w| (2_000..6_144).contains(&w.memory_mib)));
            assert!(
                machine.work.iter().all(|w| w.activity >= 50),
                "{} is never idle",
                machine.name
            );
        }
    }

    #[test]
    fn a_standby_never_works_and_always_holds_its_model() {
        assert!(
            standby(9)
                .iter()
                .all(|m| m.work.iter().all(|w| w.activity == 0 && w.memory_mib > 30_000))
        );
    }
}
