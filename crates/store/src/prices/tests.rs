use lowwater_model::policy::Policy;

use super::*;
use crate::load::{LoadReport, Quiet, load};
use crate::shared;

/// A data directory, and a folder of catalogues beside it.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn load(&self, path: &Path, provider: Option<&str>, day: &str) -> Result<LoadReport, String> {
        let request = LoadRequest {
            paths: vec![path.to_owned()],
            provider: provider.map(Into::into),
            at: Some(format!("{day}T00:00:00Z").parse().unwrap()),
            ..LoadRequest::default()
        };
        let dir = self.0.path().join("data");
        load(&dir, &request, &Policy::defaults(&[]), &Quiet).map_err(|e| e.to_string())
    }

    fn offers(&self, day: &str) -> Vec<Offer> {
        let store = Store::open(&self.0.path().join("data"), &[]).unwrap();
        let mut offers = store.listed_offers(day.parse().unwrap()).unwrap();
        offers.sort_by(|a, b| (&a.sku, a.market, a.as_of).cmp(&(&b.sku, b.market, b.as_of)));
        offers
    }
}

fn told(report: &LoadReport) -> String {
    report
        .units
        .iter()
        .flat_map(|u| u.warnings.clone())
        .collect::<Vec<_>>()
        .join("; ")
}

/// One provider's part of the sample, whose parts begin with `# provider=`.
fn part(provider: &str) -> Option<String> {
    let text = std::fs::read_to_string(shared::file("catalog/samples/skypilot_vms.csv")?).unwrap();
    let parts = text.split("# provider=").find(|part| part.starts_with(provider))?;
    Some(parts.split_once('\n')?.1.to_owned())
}

#[test]
fn real_rows_of_four_providers() {
    let lab = Lab::new();
    let Some(aws) = part("aws") else { return };
    let report = lab.load(&lab.file("v9/aws/vms.csv", &aws), None, "2026-07-20").unwrap();
    assert_eq!((report.units[0].kind, report.units[0].rows), ("prices", 3));
    for provider in ["nebius", "lambda"] {
        lab.load(
            &lab.file(&format!("v9/{provider}/vms.csv"), &part(provider).unwrap()),
            None,
            "2026-07-20",
        )
        .unwrap();
    }
    let offers = lab.offers("2026-08-01");
    let told: Vec<_> = offers
        .iter()
        .map(|o| {
            (
                o.cloud.as_str(),
                o.sku.as_str(),
                o.zone.as_str(),
                o.market.as_str(),
                o.rate.0,
            )
        })
        .collect();
    let want = [
        ("nebius", "gpu-h100-sxm_1gpu-16vcpu-200gb", "", "on_demand", 2.95),
        ("nebius", "gpu-h100-sxm_1gpu-16vcpu-200gb", "", "spot", 1.25),
        ("lambda", "gpu_8x_v100", "", "on_demand", 6.32),
        ("aws", "p4d.24xlarge", "use1-az1", "on_demand", 21.957642),
        ("aws", "p4d.24xlarge", "use1-az1", "spot", 8.0087),
        ("aws", "p5.48xlarge", "eun1-az1", "on_demand", 58.8928),
    ];
    assert_eq!(told, want);
    let holds = offers[2].holds().unwrap();
    assert_eq!((holds.accelerator.as_str(), holds.count), ("V100-16", 8.0));
    assert!(
        offers
            .iter()
            .all(|o| o.basis == PriceBasis::List && o.source == "skypilot price list")
    );
    assert!(
        lab.offers("2026-07-19").is_empty(),
        "a price is not known before its day"
    );
}

#[test]
fn google_machines_and_their_accelerators_are_added() {
    let lab = Lab::new();
    let Some(gcp) = part("gcp") else { return };
    // The sample has the machine alone: its price is not that of the whole.
    let path = lab.file("gcp/vms.csv", &gcp);
    let report = lab.load(&path, None, "2026-07-20").unwrap();
    assert!(
        told(&report).contains("a2-highgpu-1g: the price of the machine is there"),
        "{}",
        told(&report)
    );
    let skus: Vec<String> = lab.offers("2026-08-01").iter().map(|o| o.sku.to_string()).collect();
    assert_eq!(skus, ["tpu-v5p-8064", "tpu-v5p-8064"]);
    let whole = format!("{gcp},,,A100,1.0,A100,us-central1,us-central1-a,2.933908,1.15\n");
    let report = lab.load(&lab.file("gcp/vms.csv", &whole), None, "2026-07-21").unwrap();
    assert!(!told(&report).contains("a2-highgpu-1g"), "{}", told(&report));
    let offers = lab.offers("2026-08-01");
    let of = |market| {
        offers
            .iter()
            .find(|o| o.sku.as_str() == "a2-highgpu-1g" && o.market == market)
            .unwrap()
            .rate
            .0
    };
    assert_eq!((of(Market::OnDemand), of(Market::Spot)), (3.673388, 1.53812));
}

const HEADER: &str = "Region,InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,GpuInfo\n";

#[test]
fn columns_go_by_name_and_bad_rows_are_named() {
    let lab = Lab::new();
    let text = format!(
        "{HEADER}eu,a,H100,8,20,5,\n eu ,b,H100,8,0,,\neu,c,H100,many,3,,\neu,d,H100,8,cheap,,\neu,,,,3,,\n\
         eu,e,H100,8,24,,\"{{'Gpus': [{{'Count': 4}}]}}\"\neu,m,,,0.1,,\n{}",
        (0..4)
            .map(|n| format!("eu,g{n},H100,8,20,,\"{{'Gpus': []}}\"\n"))
            .collect::<String>()
    );
    let path = lab.file("list.csv", &text);
    let error = lab.load(&path, None, "2026-10-01").unwrap_err();
    assert!(error.contains("--provider aws"), "{error}");
    let report = lab.load(&path, Some("Amazon Web Services"), "2026-10-01").unwrap();
    assert_eq!((report.units[0].rows, report.units[0].rejects), (6, 5));
    assert_eq!(report.units[0].account, "aws");
    let store = Store::open(&lab.0.path().join("data"), &[]).unwrap();
    let places: Vec<(u64, String)> = store
        .rejects()
        .unwrap()
        .into_iter()
        .map(|r| (r.row, r.column))
        .collect();
    let want = [
        (3, "price"),
        (4, "acceleratorcount"),
        (5, "price"),
        (6, "instancetype"),
        (7, "acceleratorcount"),
    ];
    assert_eq!(places, want.map(|(row, column)| (row, column.to_owned())));
}

#[test]
fn a_bad_price_takes_nothing_from_the_good_one_beside_it() {
    let lab = Lab::new();
    let list = lab.file(
        "aws/vms.csv",
        &format!("{HEADER}eu,a,H100,8,20,-3,\neu,b,H100,8,free,5,\n"),
    );
    let report = lab.load(&list, None, "2026-05-01").unwrap();
    assert_eq!((report.units[0].rows, report.units[0].rejects), (2, 2));
    let offers = lab.offers("2026-06-01");
    let kept: Vec<(&str, Market, f64)> = offers.iter().map(|o| (o.sku.as_str(), o.market, o.rate.0)).collect();
    assert_eq!(kept, [("a", Market::OnDemand, 20.0), ("b", Market::Spot, 5.0)]);
}

#[test]
fn a_list_of_which_most_rows_are_faulty_is_refused_whole() {
    let lab = Lab::new();
    let bad = "eu,b,H100,8,cheap,,\n".repeat(7);
    let list = lab.file("aws/vms.csv", &format!("{HEADER}eu,a,H100,8,20,5,\n{bad}"));
    let error = lab.load(&list, None, "2026-05-01").unwrap_err();
    assert!(
        error.contains("7 of 8 rows are faulty, more than load.max_reject_share"),
        "{error}"
    );
    assert!(!lab.0.path().join("data/store/manifest.json").exists());
}

#[test]
fn the_same_list_changes_nothing_and_days_stand_beside_each_other() {
    let lab = Lab::new();
    let list = |price: &str| lab.file("aws/vms.csv", &format!("{HEADER}eu,p5.48xlarge,H100,8,{price},,\n"));
    lab.load(&list("98.32"), None, "2026-05-01").unwrap();
    assert!(lab.load(&list("98.32"), None, "2026-05-01").unwrap().unchanged);
    let report = lab.load(&list("55.04"), None, "2026-06-05").unwrap();
    assert!(told(&report).contains("98.32 to 55.04"), "{}", told(&report));
    let rates: Vec<f64> = lab.offers("2026-07-01").iter().map(|o| o.rate.0).collect();
    assert_eq!(rates, [98.32, 55.04]);
}

#[test]
fn a_list_without_a_price_is_refused_whole() {
    let lab = Lab::new();
    let error = lab
        .load(&lab.file("aws/vms.csv", HEADER), None, "2026-05-01")
        .unwrap_err();
    assert!(
        error.contains("holds no price of an accelerator") && error.contains("hint:"),
        "{error}"
    );
}
