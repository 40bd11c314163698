use proptest::prelude::*;

use super::*;

fn sku(place: Place, text: &str) -> Option<String> {
    place.read(text).sku
}

#[test]
fn every_known_type_is_recognised_as_one() {
    for fact in lowwater_model::sku::skus() {
        let name = fact.sku.as_str();
        assert!(WHOLE.is_match(name), "{name}");
        let sentence = format!("$1.624 per On Demand Linux {name} Instance Hour");
        assert_eq!(sku(Place::Sentence, &sentence).as_deref(), Some(name));
        assert_eq!(sku(Place::Name, name).as_deref(), Some(name));
        let details = format!(r#"{{"InstanceType":"{name}","CoreCount":96}}"#);
        assert_eq!(sku(Place::PriceDetails, &details).as_deref(), Some(name));
    }
}

#[test]
fn sentences_of_real_bills() {
    let of = |text: &str| sku(Place::Sentence, text);
    assert_eq!(
        of("$1.14 per On Demand Linux g3.4xlarge Instance Hour").as_deref(),
        Some("g3.4xlarge")
    );
    assert_eq!(
        of("SageMaker ml.p4d.24xlarge-hours, notebook").as_deref(),
        Some("ml.p4d.24xlarge")
    );
    assert_eq!(
        of("db.r6g.large per hour").as_deref(),
        Some("db.r6g.large"),
        "not the r6g.large in it"
    );
    assert_eq!(
        of("Instance gpu_8x_h100_sxm5 in us-east-1").as_deref(),
        Some("gpu_8x_h100_sxm5")
    );
    for text in [
        "$0.40 per million Amazon SQS standard requests in Tier1 in US West (Oregon)",
        "$0.005 per Idle public IPv4 address per hour",
        "Standard - A1 - Memory",
        "$0.045 per GB Data Processed by NAT Gateways v1.2-beta",
        "transfer to us-east-1.large",
        "",
    ] {
        assert_eq!(of(text), None, "{text}");
    }
}

#[test]
fn price_details_count_gpus_too() {
    let clue = Place::PriceDetails.read(r#"{"InstanceType":"p4d.24xlarge","GpuCount":8}"#);
    assert_eq!((clue.sku.as_deref(), clue.gpu_count), (Some("p4d.24xlarge"), Some(8.0)));
    assert_eq!(clue.fact().unwrap().accelerator.as_str(), "A100-40");
    let unnamed = Place::PriceDetails.read(r#"{"InstanceType":"Small box","GpuCount":"2"}"#);
    assert_eq!((unnamed.sku, unnamed.gpu_count), (None, Some(2.0)));
    for text in [
        "",
        "x",
        r#"{"GpuCount":0}"#,
        r#"{"GpuCount":"NaN"}"#,
        r#"{"GpuCount":1e300}"#,
        r#"{"InstanceType":null}"#,
    ] {
        assert_eq!(Place::PriceDetails.read(text), Clue::default(), "{text}");
    }
}

#[test]
fn azure_meters() {
    let of = |text: &str| sku(Place::Meter, text);
    assert_eq!(of("ND96asr v4 Spot").as_deref(), Some("Standard_ND96asr_v4"));
    assert_eq!(
        of("NC24ads A100 v4 Low Priority").as_deref(),
        Some("Standard_NC24ads_A100_v4")
    );
    assert_eq!(
        of("Standard_ND96isr_H100_v5").as_deref(),
        Some("Standard_ND96isr_H100_v5")
    );
    assert_eq!(of("Compute"), None);
}

#[test]
fn columns_of_the_file_that_name_types() {
    for name in ["x_InstanceType", "x_aws_instance_type", "x_MachineType", "x_VmSize"] {
        assert!(is_sku_column(name), "{name}");
    }
    assert!(!is_sku_column("x_Instance") && !is_sku_column("x_Id"));
}

proptest! {
    /// Any text is read without a panic, and what is found is in it.
    #[test]
    fn survives_any_text(text in any::<String>()) {
        for place in [Place::PriceDetails, Place::Name, Place::Meter, Place::Sentence] {
            let clue = place.read(&text);
            if let (Place::Sentence | Place::Name, Some(found)) = (place, clue.sku) {
                prop_assert!(text.contains(&found));
            }
        }
    }
}
