//! What is known of each cloud. `ProviderName` is free text in bills: the aliases fold it to one id.

/// One cloud.
#[derive(Debug)]
pub struct Cloud {
    /// Short id, as in the tables of facts.
    pub id: &'static str,
    /// Names that bills use for it.
    pub names: &'static [&'static str],
    /// Nominal notice before an interruptible machine is taken away; none = nobody documents one. Real notices begin at
    /// zero. AWS: EC2 user guide; Google: "best effort, up to 30 s"; Azure: 30 s (third-party table).
    pub spot_notice_seconds: Option<f64>,
}

/// In alphabetical order. A cloud that is not here works too: its id is its name in lower case.
pub const CLOUDS: &[Cloud] = &[
    Cloud {
        id: "aws",
        names: &["aws", "amazon web services", "amazon web services, inc.", "amazon"],
        spot_notice_seconds: Some(120.0),
    },
    Cloud {
        id: "azure",
        names: &["azure", "microsoft", "microsoft azure"],
        spot_notice_seconds: Some(30.0),
    },
    Cloud {
        id: "gcp",
        names: &["gcp", "google", "google cloud", "google cloud platform"],
        spot_notice_seconds: Some(30.0),
    },
    Cloud {
        id: "lambda",
        names: &["lambda", "lambda labs", "lambda cloud"],
        spot_notice_seconds: None,
    },
    Cloud {
        id: "nebius",
        names: &["nebius", "nebius ai cloud"],
        spot_notice_seconds: None,
    },
    Cloud {
        id: "oracle",
        names: &["oracle", "oracle cloud", "oci"],
        spot_notice_seconds: None,
    },
];

/// The id of the cloud that a bill calls by this name.
pub fn cloud_id(provider: &str) -> String {
    let name = provider.trim().to_lowercase();
    CLOUDS
        .iter()
        .find(|c| c.names.contains(&name.as_str()))
        .map_or(name, |c| c.id.to_owned())
}

/// Nominal seconds of notice that a cloud gives before it takes an interruptible machine; none = not known.
pub fn notice_seconds(cloud: &str) -> Option<f64> {
    CLOUDS.iter().find(|c| c.id == cloud)?.spot_notice_seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_names() {
        assert_eq!(cloud_id("Microsoft"), "azure");
        assert_eq!(cloud_id(" AWS "), "aws");
        assert_eq!(cloud_id("SunGPU"), "sungpu");
        assert_eq!((notice_seconds("aws"), notice_seconds("sungpu")), (Some(120.0), None));
    }
}
