//! Chromium, driven over WebDriver: JSON over plain HTTP to a `chromedriver` that the test starts. The few calls that tests
//! need are shorter than a client crate's list of dependencies.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Is a browser there? A word where it is not; in CI that is an error.
pub fn is_there() -> bool {
    let answers = |program: &str| {
        let mut command = Command::new(program);
        let quiet = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    };
    let there = answers("chromedriver") && answers("chromium");
    assert!(
        there || std::env::var_os("CI").is_none(),
        "chromium and chromedriver are not installed"
    );
    if !there {
        eprintln!("skipped: the dashboard in a browser (no chromium)");
    }
    there
}

/// A browser with one window; it ends with this value, and its processes with it.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = call(self.port, "DELETE", &format!("/session/{}", self.session), None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        self.end_left_over();
    }
}

impl Browser {
    /// Starts it on a free port.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.by_ref().find_map(|line| {
            let line = line.unwrap();
            let rest = line.split_once("started successfully on port ")?.1;
            rest.trim_end_matches('.').parse().ok()
        });
        // Whoever writes to a closed pipe ends: the rest is read and thrown away.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Self {
            driver,
            port: port.expect("chromedriver says its port"),
            session: String::new(),
            profile,
        };
        let flags = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--hide-scrollbars".to_owned(),
            format!("--user-data-dir={}", browser.profile.path().display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": flags},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let answer = call(browser.port, "POST", "/session", Some(&wanted)).unwrap();
        answer["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        browser
    }

    /// Ends what still runs with this profile: a driver that is killed leaves its browser.
    fn end_left_over(&self) {
        let mark = format!("--user-data-dir={}", self.profile.path().display());
        let Ok(processes) = std::fs::read_dir("/proc") else {
            return;
        };
        for process in processes.flatten() {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&line).contains(&mark) {
                let pid = process.file_name().to_string_lossy().into_owned();
                let _ = Command::new("kill")
                    .args(["-KILL", &pid])
                    .stderr(Stdio::null())
                    .status();
            }
        }
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let whole = format!("/session/{}{path}", self.session);
        call(self.port, method, &whole, body).unwrap_or_else(|why| panic!("{method} {path}: {why}"))
    }

    /// Opens an address and waits until its script has run.
    pub fn open(&self, url: &str) {
        self.ask("POST", "/url", Some(&json!({ "url": url })));
        self.until("document.documentElement.dataset.ready !== undefined");
    }

    /// What a script answers.
    pub fn run(&self, script: &str) -> Value {
        self.ask("POST", "/execute/sync", Some(&json!({"script": script, "args": []})))
    }

    /// What an expression is worth.
    pub fn value(&self, expression: &str) -> Value {
        self.run(&format!("return {expression};"))
    }

    /// The same as a text.
    pub fn text(&self, expression: &str) -> String {
        let value = self.value(expression);
        value
            .as_str()
            .unwrap_or_else(|| panic!("{expression}: {value}"))
            .to_owned()
    }

    /// Waits until an expression is true; a page that is being left answers nothing, and is asked again.
    pub fn until(&self, expression: &str) {
        let begin = Instant::now();
        let path = format!("/session/{}/execute/sync", self.session);
        let body = json!({"script": format!("return !!({expression});"), "args": []});
        while call(self.port, "POST", &path, Some(&body)) != Ok(Value::Bool(true)) {
            assert!(begin.elapsed() < Duration::from_secs(30), "never: {expression}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Clicks what a selector finds and waits for the page that comes.
    pub fn follow(&self, selector: &str) {
        self.turn(|| self.click(selector));
    }

    /// Clicks as a person does: what is hidden or covered can't be clicked.
    pub fn click(&self, selector: &str) {
        let found = self.ask(
            "POST",
            "/element",
            Some(&json!({"using": "css selector", "value": selector})),
        );
        let id = found
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        self.ask("POST", &format!("/element/{id}/click"), Some(&json!({})));
    }

    /// Keys, one after the other, to what has the focus.
    pub fn keys(&self, keys: &str) {
        let strokes: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key})))
            .collect();
        let actions = json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]});
        self.ask("POST", "/actions", Some(&actions));
    }

    /// Does what leads to another page, and waits until that is there.
    pub fn turn(&self, act: impl FnOnce()) {
        let here = self.value("performance.timeOrigin");
        act();
        self.until(&format!(
            "performance.timeOrigin !== {here} && document.documentElement.dataset.ready !== undefined"
        ));
    }

    /// As the button of the browser.
    pub fn back(&self) {
        self.turn(|| {
            self.ask("POST", "/back", Some(&json!({})));
        });
    }

    /// A command of the developer tools.
    fn tool(&self, name: &str, parameters: &Value) {
        let body = json!({"cmd": name, "params": parameters});
        self.ask("POST", "/goog/cdp/execute", Some(&body));
    }

    /// The size of the window's inside.
    pub fn size(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.tool("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What the system likes, `dark` or `light`.
    pub fn system_likes(&self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.tool("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    /// Errors and warnings that the console told since it was asked last.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.ask("POST", "/se/log", Some(&json!({"type": "browser"})));
        let lines = log.as_array().unwrap().iter();
        let loud = lines.filter(|line| line["level"] == "SEVERE" || line["level"] == "WARNING");
        loud.map(|line| line["message"].to_string()).collect()
    }
}

/// The value of the driver's answer, or what is wrong.
fn call(port: u16, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
    stream
        .set_read_timeout(Some(Duration::from_mins(1)))
        .map_err(|e| e.to_string())?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).map_err(|e| e.to_string())?;
    let answer = read(&mut BufReader::new(stream)).map_err(|e| e.to_string())?;
    let mut answer: Value = serde_json::from_slice(&answer).map_err(|e| e.to_string())?;
    match answer["value"]["error"].as_str() {
        Some(error) => Err(format!("{error}: {}", answer["value"]["message"])),
        None => Ok(answer["value"].take()),
    }
}

/// The body of an answer: as long as its head says.
fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}
