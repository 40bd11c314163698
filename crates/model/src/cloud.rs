//! What is known of each cloud. `ProviderName` is free text in bills: the aliases fold it to one id.

/// One cloud.
#[derive(Debug)]
pub struct Cloud {
    /// Short id, as in the tables of facts.
    pub id: &'static str,
    /// Names that bills use for it.
    pub names: &'static [&'static str],
}

/// In alphabetical order. A cloud that is not here works too: its id is its name in lower case.
pub const CLOUDS: &[Cloud] = &[
    Cloud {
        id: "aws",
        names: &["aws", "amazon web services", "amazon web services, inc.", "amazon"],
    },
    Cloud {
        id: "azure",
        names: &["azure", "microsoft", "microsoft azure"],
    },
    Cloud {
        id: "gcp",
        names: &["gcp", "google", "google cloud", "google cloud platform"],
    },
    Cloud {
        id: "lambda",
        names: &["lambda", "lambda labs", "lambda cloud"],
    },
    Cloud {
        id: "nebius",
        names: &["nebius", "nebius ai cloud"],
    },
    Cloud {
        id: "oracle",
        names: &["oracle", "oracle cloud", "oci"],
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_names() {
        assert_eq!(cloud_id("Microsoft"), "azure");
        assert_eq!(cloud_id(" AWS "), "aws");
        assert_eq!(cloud_id("SunGPU"), "sungpu");
    }
}
