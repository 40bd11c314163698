//! Servers that refuse, fail, lie or send too much.

use std::net::TcpListener;

use super::*;

/// A good server with faults: `fault` may answer instead, told how many pages were asked for before.
fn faulty(mut fault: impl FnMut(&Asked, usize) -> Option<Reply> + Send + 'static) -> Fake {
    let gpus = gpus();
    let mut pages = 0;
    Fake::new(move |asked| {
        let reply = fault(asked, pages).unwrap_or_else(|| gpus.answer(asked));
        pages += usize::from(asked.is_page());
        reply
    })
}

fn error_of(fake: &Fake) -> String {
    let lab = Lab::of(fake);
    let error = lab.try_load(&Quiet).unwrap_err();
    assert!(error.starts_with(&fake.url()) && error.contains("\nhint: "), "{error}");
    assert!(lab.hours().is_empty(), "nothing came");
    error
}

#[test]
fn a_login_is_sent_and_never_shown() {
    let wants = |login: &'static str| {
        faulty(move |asked, _| {
            let given = asked.headers.get("authorization").map(String::as_str);
            (given != Some(login)).then(|| Reply::new(401, "Unauthorized"))
        })
    };
    let error = error_of(&wants("Bearer t0ken"));
    assert!(
        error.contains("wants another login (401)") && error.contains("LOWWATER_PROMETHEUS_TOKEN"),
        "{error}"
    );
    for (sent, login) in [
        ("Bearer t0ken", Login::Bearer(Secret::new("t0ken\n"))),
        (
            "Basic bWU6czNjcmV0",
            Login::Basic {
                user: "me".into(),
                password: Secret::new("s3cret"),
            },
        ),
    ] {
        let fake = wants(sent);
        let mut lab = Lab::of(&fake);
        lab.request.server.login = login;
        let report = lab.load();
        assert_eq!(lab.hours().len(), 120);
        let shown = format!("{:?} {report:?} {:?}", lab.request, lab.manifest());
        assert!(
            !shown.contains("t0ken") && !shown.contains("s3cret") && !shown.contains("bWU6"),
            "{shown}"
        );
    }
    let broken = serve(&gpus());
    let mut lab = Lab::of(&broken);
    lab.request.server.login = Login::Bearer(Secret::new("t0\nken"));
    let error = lab.try_load(&Quiet).unwrap_err();
    assert!(error.contains("no header can") && !error.contains("ken\""), "{error}");
}

#[test]
fn a_busy_server_is_asked_for_less_a_little_later() {
    let fake = faulty(|asked, pages| (asked.is_page() && pages < 2).then(|| Reply::new(503, "busy")));
    let lab = Lab::of(&fake);
    lab.load();
    assert_eq!(lab.hours(), as_files(&gpus().exposition(), "eu-1"));
    let pages = fake.pages();
    assert!(
        pages[1].points() < pages[0].points() && pages[2].points() < pages[1].points(),
        "{pages:?}"
    );

    let always = faulty(|asked, _| {
        asked
            .is_page()
            .then(|| Reply::new(503, r#"{"status":"error","error":"shedding"}"#))
    });
    assert!(error_of(&always).contains("is too busy (503: shedding)"));
    assert_eq!(always.pages().len(), limits().tries as usize);
}

#[test]
fn a_server_that_names_a_time_is_asked_after_it() {
    let fake = faulty(|asked, pages| {
        (asked.is_page() && pages == 0).then(|| Reply {
            header: "Retry-After: 1\r\n".into(),
            ..Reply::new(429, "slow down")
        })
    });
    let lab = Lab::of(&fake);
    let began = std::time::Instant::now();
    lab.load();
    assert_eq!(lab.hours().len(), 120);
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
}

#[test]
fn a_server_that_can_not_answer_that_much_is_asked_for_less() {
    let fake = faulty(|asked, _| {
        let text = r#"{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory"}"#;
        (asked.is_page() && asked.points() > 100).then(|| Reply::new(422, text))
    });
    let lab = Lab::of(&fake);
    lab.load();
    assert_eq!(lab.hours(), as_files(&gpus().exposition(), "eu-1"));
    let too_many = fake.pages().iter().filter(|page| page.points() > 100).count();
    assert!(
        too_many < 6,
        "what was too much once is not asked for again: {too_many}"
    );
    let never = faulty(|asked, _| asked.is_page().then(|| Reply::new(422, "")));
    assert!(error_of(&never).contains("can't answer that much (422)"));
}

#[test]
fn a_slow_server_is_left_after_a_while() {
    let slow = faulty(|asked, _| {
        asked.is_page().then(|| Reply {
            delay: Duration::from_millis(300),
            ..Reply::new(200, "{}")
        })
    });
    let mut lab = Lab::of(&slow);
    lab.limits.timeout = Duration::from_millis(100);
    lab.limits.tries = 2;
    let error = lab.try_load(&Quiet).unwrap_err();
    assert!(
        error.contains("gives no answer within") && error.contains("hint: "),
        "{error}"
    );
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again() {
    let cut = |bytes: usize, is_said: bool| {
        faulty(move |asked, pages| {
            let whole = gpus().answer(asked).body;
            let half = whole[..whole.len() / bytes].to_vec();
            let withheld = if is_said { whole.len() - half.len() } else { 0 };
            (asked.is_page() && pages % 2 == 0).then(|| Reply {
                withheld,
                ..Reply::new(200, half)
            })
        })
    };
    for (bytes, is_said) in [(2, false), (3, true), (100, false)] {
        let fake = cut(bytes, is_said);
        let lab = Lab::of(&fake);
        lab.load();
        assert_eq!(lab.hours(), as_files(&gpus().exposition(), "eu-1"), "{bytes}");
    }
    let always = faulty(|asked, _| {
        asked
            .is_page()
            .then(|| Reply::new(200, r#"{"status":"success","data":{"result":[{"#))
    });
    assert!(error_of(&always).contains("broke off"));
}

#[test]
fn a_large_answer_is_not_taken_and_smaller_ones_are() {
    let fake = serve(&gpus());
    let mut lab = Lab::of(&fake);
    lab.limits.answer_bytes = 30_000;
    lab.load();
    assert_eq!(lab.hours(), as_files(&gpus().exposition(), "eu-1"));
    let endless = faulty(|asked, _| asked.is_page().then(|| Reply::new(200, vec![b' '; 40_000])));
    let mut lab = Lab::of(&endless);
    lab.limits.answer_bytes = 30_000;
    let error = lab.try_load(&Quiet).unwrap_err();
    assert!(error.contains("more than 30000 bytes at once"), "{error}");
}

#[test]
fn what_is_no_prometheus_is_said_to_be_none() {
    assert!(error_of(&Fake::new(|_| Reply::new(404, "not here"))).contains("has no Prometheus API there (404)"));
    assert!(error_of(&Fake::new(|_| Reply::new(200, "<html>Sign in</html>"))).contains("a login page"));
    assert!(error_of(&Fake::new(|_| Reply::new(200, r#"{"status":"error"}"#))).contains("status `error`"));
    assert!(error_of(&Fake::new(|_| Reply::new(418, "{\"error\":\"tea\"}"))).contains("does not answer (418: tea)"));
    let elsewhere = Fake::new(|_| Reply {
        header: "Location: https://login.example/?token=s3cret\r\n".into(),
        ..Reply::new(302, "")
    });
    let error = error_of(&elsewhere);
    assert!(
        error.contains("sends elsewhere to https://login.example/ (302)") && !error.contains("s3cret"),
        "{error}"
    );
    assert_eq!(elsewhere.asked().len(), 1, "a redirect is not followed");
    let mut nested = b"{\"status\":".to_vec();
    nested.extend(std::iter::repeat_n(b'[', 100_000));
    assert!(error_of(&Fake::new(move |_| Reply::new(200, nested.clone()))).contains("something else"));
}

#[test]
fn a_server_that_is_not_there_or_speaks_no_tls() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = Lab::new(&[format!("http://{free}")]).try_load(&Quiet).unwrap_err();
    assert!(
        error.contains("refuses the connection") && error.contains("port-forward"),
        "{error}"
    );
    let plain = serve(&gpus());
    let error = Lab::new(&[plain.url().replace("http:", "https:")])
        .try_load(&Quiet)
        .unwrap_err();
    assert!(
        error.contains("broke off") && error.contains("a server without TLS is http://"),
        "{error}"
    );
}

#[test]
fn warnings_of_a_server_are_kept_with_the_month() {
    let fake = faulty(|asked, _| {
        let mut reply = gpus().answer(asked);
        if asked.is_page() {
            let text = String::from_utf8(reply.body).unwrap();
            reply.body = text
                .replacen('{', r#"{"warnings":["a store did not answer"],"#, 1)
                .into_bytes();
        }
        Some(reply)
    });
    let lab = Lab::of(&fake);
    let report = lab.load();
    assert_eq!(report.units[0].warnings, ["the server warns: a store did not answer"]);
}

#[test]
fn nodes_that_are_too_many_for_the_server_stop_nothing() {
    let fake = faulty(|asked, _| (asked.path == "/api/v1/query").then(|| Reply::new(422, "")));
    let lab = Lab::of(&fake);
    let report = lab.load();
    assert_eq!((lab.hours().len(), report.servers[0].warnings.len()), (120, 1));
}
