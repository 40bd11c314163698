use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<Contract, String> {
    Contract::parse(text, CONTRACT_FILE).map_err(|error| error.to_string())
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

fn offer(sku: &str, market: Market, basis: PriceBasis) -> Offer {
    Offer {
        cloud: "aws".into(),
        region: "us-east-1".into(),
        zone: String::new(),
        sku: sku.into(),
        holds: None,
        market,
        rate: HourlyRate(100.0),
        currency: "USD".into(),
        basis,
        as_of: day("2026-10-31"),
        source: "offers.csv, quote 4711".into(),
        list: None,
    }
}

fn services() -> Services {
    let mut services = Services::default();
    services.add("aws", "P5.48xlarge", "Amazon EC2");
    services.add("aws", "ml.p5.48xlarge", "Amazon SageMaker");
    services.add("azure", "Standard_ND96asr_v4", "Virtual Machines");
    services
}

/// The rate of a list price of 100 on a day.
fn rate(contract: &str, sku: &str, on: &str) -> f64 {
    let contract = parse(contract).unwrap();
    contract.applied([offer(sku, Market::OnDemand, PriceBasis::List)], &services(), day(on))[0]
        .rate
        .0
}

#[test]
fn a_list_price_less_its_discount_says_both() {
    let contract =
        parse("# agreed in May\n\n[[discount]]\nprovider = \"Amazon Web Services\"\nshare = 0.12\n").unwrap();
    let list = offer("p5.48xlarge", Market::OnDemand, PriceBasis::List);
    let less = &contract.applied([list.clone()], &services(), day("2026-11-01"))[0];
    assert_eq!((less.rate.0, less.basis), (88.0, PriceBasis::Contracted));
    assert_eq!(
        less.evidence(day("2026-11-01")),
        "contracted price of 2026-10-31 (1 day old, list price of 2026-10-31 less 12 % (contract.toml:3); offers.csv, quote 4711)"
    );
    let before = ListPrice {
        rate: list.rate,
        basis: PriceBasis::List,
    };
    assert_eq!(less.list, Some(before));
}

#[test]
fn only_list_prices_are_discounted() {
    let contract = parse("[[discount]]\nshare = 0.5\n").unwrap();
    let discounted = |market, basis| {
        let offer = offer("p5.48xlarge", market, basis);
        contract.applied([offer.clone()], &services(), day("2026-11-01"))[0] != offer
    };
    for basis in PriceBasis::ALL {
        assert_eq!(discounted(Market::OnDemand, *basis), basis.is_list(), "{basis}");
    }
    for market in Market::ALL {
        let is_followed = [Market::Spot, Market::Owned].contains(market);
        assert_eq!(discounted(*market, PriceBasis::List), !is_followed, "{market}");
    }
    let spot = parse("[[discount]]\nshare = 0.5\nmarket = \"spot\"\n").unwrap();
    let offers = [Market::Spot, Market::OnDemand].map(|market| offer("p5.48xlarge", market, PriceBasis::BuiltIn));
    let rates = spot.applied(offers, &services(), day("2026-11-01"));
    assert_eq!((rates[0].rate.0, rates[1].rate.0), (50.0, 100.0));
}

#[test]
fn the_most_specific_discount_wins_wherever_it_stands() {
    let entries = [
        ("share = 0.1", "g6.xlarge", 90.0),
        ("provider = \"aws\"\nshare = 0.2", "inf2.xlarge", 80.0),
        ("service = \"amazon ec2\"\nshare = 0.3", "p5.48xlarge", 70.0),
        ("sku = \"ml.*\"\nshare = 0.4", "ml.g5.xlarge", 60.0),
        ("sku = \"ml.p5.*\"\nshare = 0.5", "ml.p5.4xlarge", 50.0),
        ("sku = [\"ml.p5.48xlarge\", \"x\"]\nshare = 0.6", "ML.p5.48xlarge", 40.0),
    ];
    let text = |entries: &[(&str, &str, f64)]| -> String {
        entries
            .iter()
            .map(|(entry, ..)| format!("[[discount]]\n{entry}\n"))
            .collect()
    };
    let (forward, backward) = (text(&entries), text(&entries.iter().rev().copied().collect::<Vec<_>>()));
    // The first entry is on other clouds only, because the second is more specific on this one.
    for (_, sku, expected) in &entries[1..] {
        assert_eq!(rate(&forward, sku, "2026-11-01"), *expected, "{sku}");
        assert_eq!(rate(&backward, sku, "2026-11-01"), *expected, "{sku}");
    }
    let equal = "[[discount]]\nsku = \"p5.*\"\nshare = 0.2\n[[discount]]\nsku = [\"p5.*\", \"g5.*\"]\nshare = 0.3\n";
    assert_eq!(
        rate(equal, "p5.48xlarge", "2026-11-01"),
        80.0,
        "of equals the first of the file"
    );
}

#[test]
fn a_discount_holds_on_its_days_both_included() {
    let text = "[[discount]]\nshare = 0.1\nfrom = 2026-01-01\nuntil = \"2026-06-30\"\n\
                [[discount]]\nshare = 0.2\nfrom = 2026-07-01\n";
    let days = [
        ("2025-12-31", 100.0),
        ("2026-01-01", 90.0),
        ("2026-06-30", 90.0),
        ("2026-07-01", 80.0),
        ("2030-01-01", 80.0),
    ];
    for (on, expected) in days {
        assert_eq!(rate(text, "p5.48xlarge", on), expected, "{on}");
    }
}

#[test]
fn a_discount_on_a_service_needs_to_know_the_service() {
    let text = "[[discount]]\nservice = \"Amazon EC2\"\nshare = 0.1\n";
    assert_eq!(rate(text, "p5.48xlarge", "2026-11-01"), 90.0);
    assert_eq!(rate(text, "ml.p5.48xlarge", "2026-11-01"), 100.0);
    assert_eq!(
        rate(text, "g6.xlarge", "2026-11-01"),
        100.0,
        "never bought, and the cloud has two services"
    );
    let one = parse("[[discount]]\nservice = \"virtual *\"\nshare = 0.1\n").unwrap();
    let mut offer = offer("Standard_NC6s_v3", Market::OnDemand, PriceBasis::List);
    offer.cloud = "azure".into();
    let less = one.applied([offer], &services(), day("2026-11-01"));
    assert_eq!(
        less[0].rate.0, 90.0,
        "never bought, but the cloud has one service of machines"
    );
}

#[test]
fn what_can_not_be_meant_is_refused_with_its_line() {
    let wrong = [
        (
            "[[discount]]\nshare = 12\n",
            "contract.toml:1: `share` is 12\nhint: it is a part of the list price",
        ),
        ("[[discount]]\nshare = nan\n", "`share` is NaN"),
        (
            "\n[[discount]]\nshare = 0.1\nfrom = 2026-02-01\nuntil = 2026-01-01\n",
            "contract.toml:2: `until` is 2026-01-01, before",
        ),
        (
            "[[discount]]\nshare = 0.1\nsku = \"p[\"\n",
            "`sku` holds `p[`, which is not a valid glob",
        ),
        (
            "[[discount]]\nshare = 0.1\nservice = [\"\"]\n",
            "`service` holds ``, which is empty",
        ),
        ("[[discount]]\nshare = 0.1\nprovider = \" \"\n", "`provider` is empty"),
        (
            "[[discount]]\nshare = 0.1\nmarket = \"reserved\"\n",
            "`market` holds `reserved`\nhint: markets are on_demand, spot",
        ),
        ("[[discount]]\nshare = 0.1\nregion = \"x\"\n", "unknown field `region`"),
        ("[[discount]]\nshare = 0.1\nfrom = 2026-13-01\n", "2026-13-01"),
        ("[[discounts]]\nshare = 0.1\n", "unknown field `discounts`"),
        (
            "[[discount]]\nshare = 0.1\nuntil = 2026-07-01\n\n[[discount]]\nshare = 0.2\nfrom = 2026-07-01\n",
            "contract.toml:5: this discount is on the same prices and days as that of line 1\nhint: ",
        ),
        (
            "[[minimum]]\nprovider = \"aws\"\namount = 1\nuntil = 2026-01-01\n",
            "missing field `from`",
        ),
        (
            "[[minimum]]\nprovider = \"aws\"\namount = 0\nfrom = 2026-01-01\nuntil = 2026-12-31\n",
            "`amount` is 0.00",
        ),
        (
            "[[minimum]]\nprovider = \"aws\"\namount = \"1,000\"\nfrom = 2026-01-01\nuntil = 2026-12-31\n",
            "`1,000` is not a decimal",
        ),
        (
            "[[minimum]]\nprovider = \"aws\"\namount = 5\nfrom = 2026-01-01\nuntil = 2026-12-31\nspent = 4\n",
            "contract.toml:1: `spent` stands without `spent_until`",
        ),
        (
            "[[minimum]]\nprovider = \"aws\"\namount = 5\nfrom = 2026-01-01\nuntil = 2026-12-31\nspent = 4\nspent_until = 2025-12-31\n",
            "`spent_until` is 2025-12-31, outside of 2026-01-01 to 2026-12-31",
        ),
        (
            "[[minimum]]\nprovider = \"aws\"\namount = 5\nfrom = 2026-01-01\nuntil = 2026-12-31\n\
             [[minimum]]\nprovider = \"Amazon\"\namount = 5\nfrom = 2026-12-31\nuntil = 2027-12-31\n",
            "contract.toml:6: this minimum counts the same spend with aws as that of line 1",
        ),
    ];
    for (text, expected) in wrong {
        let error = parse(text).unwrap_err();
        assert!(error.contains(expected), "{text}\n{error}");
    }
}

#[test]
fn a_discount_on_no_known_list_price_is_told() {
    let text = "[[discount]]\nsku = \"p5.*\"\nshare = 0.1\n\
                [[discount]]\nsku = \"p55.*\"\nshare = 0.1\n\
                [[discount]]\nservice = \"Amazon EC3\"\nshare = 0.1\n\
                [[discount]]\nprovider = \"gcp\"\nshare = 0.1\nuntil = 2026-01-01\n";
    let contract = parse(text).unwrap();
    let lines = |basis| {
        let offers = [offer("p5.48xlarge", Market::OnDemand, basis)];
        let told = contract.without_price(&offers, &services(), day("2026-11-01"));
        told.iter().map(|discount| discount.line).collect::<Vec<_>>()
    };
    assert_eq!(lines(PriceBasis::List), [4, 7], "that of 2025 is over");
    assert_eq!(lines(PriceBasis::Net), [1, 4, 7], "a net price takes no discount");
}

#[test]
fn a_minimum_is_exact_and_ends_with_its_last_day() {
    let entry = |amount: &str| {
        let text =
            format!("[[minimum]]\nprovider = \"aws\"\namount = {amount}\nfrom = 2026-01-01\nuntil = 2026-12-31\n");
        parse(&text).unwrap().minimums[0].clone()
    };
    for (written, exact) in [
        ("500000", "500000.00"),
        ("0.1", "0.10"),
        ("\"500000.123456789012\"", "500000.123456789012"),
    ] {
        assert_eq!(entry(written).amount.to_string(), exact);
    }
    let period = entry("1").period();
    assert_eq!(
        (period.start.to_string(), period.end.to_string()),
        ("2026-01-01T00:00:00Z".into(), "2027-01-01T00:00:00Z".into())
    );
}

#[test]
fn the_running_minimum_counts_then_the_next_one() {
    let text = "[[minimum]]\nprovider = \"aws\"\namount = 2\nfrom = 2027-01-01\nuntil = 2027-12-31\n\
                [[minimum]]\nprovider = \"aws\"\namount = 1\nfrom = 2026-01-01\nuntil = 2026-12-31\n";
    let contract = parse(text).unwrap();
    let amount = |at: &str| contract.minimums_at(at.parse().unwrap()).get("aws").map(|m| m.amount);
    assert_eq!(amount("2026-12-31T23:00:00Z"), Some(Money::whole(1)));
    assert_eq!(amount("2027-01-01T00:00:00Z"), Some(Money::whole(2)));
    assert_eq!(amount("2028-01-01T00:00:00Z"), None);
}

proptest! {
    /// Against a search by hand: of all that are on the price the one with the highest rank, then the lowest line.
    #[test]
    fn the_winner_is_the_best_of_all(picks in prop::collection::vec((0..4_usize, 0..3_usize, 0..3_usize), 0..6), sku in 0..3_usize) {
        let skus = [None, Some("*"), Some("p5.*"), Some("p5.48xlarge")];
        let providers = [None, Some("aws"), Some("azure")];
        let services_given = [None, Some("amazon ec2"), Some("amazon*")];
        let sku = ["p5.48xlarge", "p5.4xlarge", "g6.xlarge"][sku];
        let mut bought = Services::default();
        bought.add("aws", sku, "Amazon EC2");
        let days = |at: usize| Days { from: Some(day("2026-01-01")), until: Some(day("2026-12-31")).filter(|_| at < 9) };
        let discounts: Vec<Discount> = picks.iter().enumerate().map(|(at, (s, p, v))| Discount {
            provider: providers[*p].map(Into::into),
            service: OneOrMany(services_given[*v].map(Into::into).into_iter().collect()),
            sku: OneOrMany(skus[*s].map(Into::into).into_iter().collect()),
            markets: BTreeSet::from([Market::OnDemand]),
            share: 0.01 * (at + 1) as f64,
            days: days(at),
            line: at + 1,
        }).collect();
        let fits = |(s, p, _): &(usize, usize, usize)| {
            let of_sku = [true, true, sku.starts_with("p5."), sku == "p5.48xlarge"][*s];
            of_sku && *p != 2
        };
        let order = |(s, p, v): &(usize, usize, usize)| (*s, [0, 2, 1][*v], usize::from(*p == 1));
        let mut best: Option<usize> = None;
        for (at, pick) in picks.iter().enumerate().filter(|(_, pick)| fits(pick)) {
            if best.is_none_or(|b| order(&picks[b]) < order(pick)) {
                best = Some(at);
            }
        }
        let contract = Contract { discounts, minimums: Vec::new() };
        let offer = offer(sku, Market::OnDemand, PriceBasis::List);
        let got = contract.discount(&offer, &bought, day("2026-05-01")).map(|discount| discount.line);
        prop_assert_eq!(got, best.map(|at| at + 1));
    }
}
