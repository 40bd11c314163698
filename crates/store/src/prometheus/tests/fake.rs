//! A small server on the loopback interface that answers as Prometheus does, or as a test wants.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A question that came in.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub path: String,
    pub query: BTreeMap<String, String>,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
}

impl Asked {
    pub(super) fn number(&self, name: &str) -> i64 {
        self.query[name].parse().unwrap()
    }

    /// Is it for a page of samples?
    pub(super) fn is_page(&self) -> bool {
        self.path == "/api/v1/query_range" && self.query["query"].starts_with("last_over_time(")
    }

    pub(super) fn points(&self) -> i64 {
        (self.number("end") - self.number("start")) / self.number("step") + 1
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub status: u16,
    pub header: String,
    pub body: Vec<u8>,
    /// Bytes that are announced and never sent.
    pub withheld: usize,
    pub delay: Duration,
}

impl Reply {
    pub(super) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            header: String::new(),
            body: body.into(),
            withheld: 0,
            delay: Duration::ZERO,
        }
    }
}

type Answer = Box<dyn FnMut(&Asked) -> Reply + Send>;

/// The server; it ends with this value.
pub(super) struct Fake {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    pub(super) fn new(answer: impl FnMut(&Asked) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let mut answer: Answer = Box::new(answer);
        let (log, end) = (Arc::clone(&asked), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::Relaxed) {
                    break;
                }
                serve(&stream.unwrap(), &mut answer, &log);
            }
        });
        Self {
            address,
            asked,
            stop,
            thread: Some(thread),
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn place(&self) -> String {
        self.address.to_string()
    }

    /// Everything that was asked so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(super) fn pages(&self) -> Vec<Asked> {
        self.asked().into_iter().filter(Asked::is_page).collect()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(mut stream: &TcpStream, answer: &mut Answer, log: &Mutex<Vec<Asked>>) {
    // A client that is gone is its own business.
    let Some(asked) = read(stream) else { return };
    let reply = answer(&asked);
    log.lock().unwrap().push(asked);
    std::thread::sleep(reply.delay);
    let length = reply.body.len() + reply.withheld;
    let (status, header) = (reply.status, &reply.header);
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n{header}\r\n");
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(&reply.body));
}

fn read(stream: &TcpStream) -> Option<Asked> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next()?;
    let target = first.split(' ').nth(1)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let headers = lines.take_while(|line| !line.is_empty());
    Some(Asked {
        path: path.to_owned(),
        query: pairs.map(|(name, value)| (name.to_owned(), decoded(value))).collect(),
        headers: headers
            .filter_map(|line| {
                line.split_once(": ")
                    .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            })
            .collect(),
    })
}

fn decoded(text: &str) -> String {
    let (mut out, mut bytes) = (Vec::new(), text.bytes());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let two = [bytes.next().unwrap(), bytes.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&two).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(out).unwrap()
}

/// GPUs that were measured every minute from one second to before another.
#[derive(Clone, Debug)]
pub(super) struct Gpus {
    pub from: i64,
    pub to: i64,
    /// External label `cluster`.
    pub cluster: Option<&'static str>,
    /// Host and UUID.
    pub devices: Vec<(&'static str, &'static str)>,
    /// Node and provider id.
    pub nodes: Vec<(&'static str, &'static str)>,
    /// Nothing was measured then.
    pub gap: std::ops::Range<i64>,
}

const METRICS: [&str; 4] = [
    "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_FB_FREE",
    "DCGM_FI_DEV_POWER_USAGE",
];

impl Gpus {
    fn has(&self, at: i64) -> bool {
        (self.from..self.to).contains(&at) && !self.gap.contains(&at)
    }

    /// The value of a metric; activity is busy for some hours and idle for others.
    fn value(metric: usize, gpu: usize, at: i64) -> String {
        let hour = at.div_euclid(3600);
        match metric {
            0 if (hour + gpu as i64) % 3 == 0 => "0".into(),
            0 => format!("0.{:02}", 10 + at.div_euclid(60) % 80),
            1 => format!("{}", 1000 + hour % 7),
            2 => format!("{}", 80_000 - hour % 7),
            _ => format!("{}.5", 100 + at.div_euclid(60) % 300),
        }
    }

    fn labels(&self, gpu: usize) -> [(&'static str, &'static str); 3] {
        let (host, uuid) = self.devices[gpu];
        [
            ("Hostname", host),
            ("UUID", uuid),
            ("modelName", "NVIDIA A100-SXM4-80GB"),
        ]
    }

    /// The same samples as a text exposition with timestamps, family by family as OpenMetrics wants it.
    pub(super) fn exposition(&self) -> String {
        let mut out = String::new();
        for (metric, name) in METRICS.iter().enumerate() {
            out += &format!("# TYPE {name} gauge\n");
            for gpu in 0..self.devices.len() {
                let labels = self
                    .labels(gpu)
                    .map(|(key, value)| format!("{key}=\"{value}\""))
                    .join(",");
                for at in (self.from..self.to).step_by(60).filter(|at| self.has(*at)) {
                    out += &format!("{name}{{{labels}}} {} {at}\n", Self::value(metric, gpu, at));
                }
            }
        }
        out + "# EOF\n"
    }

    /// Answers as Prometheus does.
    pub(super) fn answer(&self, asked: &Asked) -> Reply {
        let data = match asked.path.as_str() {
            "/api/v1/status/runtimeinfo" => serde_json::json!({"storageRetention": "15d", "goroutines": 40}),
            "/api/v1/status/config" => {
                let label = self
                    .cluster
                    .map(|c| format!("  external_labels:\n    cluster: {c}\n"))
                    .unwrap_or_default();
                serde_json::json!({"yaml": format!("global:\n  scrape_interval: 1m\n{label}")})
            }
            "/api/v1/query" => {
                let node = |(node, id): &(&str, &str)| serde_json::json!({"metric": {"node": node, "provider_id": id}, "value": [asked.number("time"), "1"]});
                serde_json::json!({"resultType": "vector", "result": self.nodes.iter().map(node).collect::<Vec<_>>()})
            }
            "/api/v1/query_range" if asked.points() > 11_000 => {
                let text =
                    "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution";
                return Reply::new(
                    400,
                    serde_json::json!({"status": "error", "errorType": "bad_data", "error": text}).to_string(),
                );
            }
            "/api/v1/query_range" if asked.is_page() => self.matrix(asked),
            "/api/v1/query_range" => {
                let times = self.times(asked);
                let values: Vec<_> = times.map(|at| serde_json::json!([at, "8"])).collect();
                let result = if values.is_empty() {
                    vec![]
                } else {
                    vec![serde_json::json!({"metric": {}, "values": values})]
                };
                serde_json::json!({"resultType": "matrix", "result": result})
            }
            _ => return Reply::new(404, "404 page not found"),
        };
        Reply::new(200, serde_json::json!({"status": "success", "data": data}).to_string())
    }

    fn times(&self, asked: &Asked) -> impl Iterator<Item = i64> {
        let (start, end, step) = (asked.number("start"), asked.number("end"), asked.number("step"));
        (start..=end).step_by(step as usize).filter(|at| self.has(*at))
    }

    fn matrix(&self, asked: &Asked) -> serde_json::Value {
        let mut result = Vec::new();
        for (metric, name) in METRICS.iter().enumerate() {
            for gpu in 0..self.devices.len() {
                let values: Vec<_> = self
                    .times(asked)
                    .map(|at| serde_json::json!([at, Self::value(metric, gpu, at)]))
                    .collect();
                let mut labels: BTreeMap<&str, &str> = self.labels(gpu).into();
                labels.insert("__name__", name);
                if !values.is_empty() {
                    result.push(serde_json::json!({"metric": labels, "values": values}));
                }
            }
        }
        serde_json::json!({"resultType": "matrix", "result": result})
    }
}
