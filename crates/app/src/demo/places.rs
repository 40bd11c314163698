//! Where the sample organisation buys: three clouds, their accounts and regions. All names and numbers are invented.

/// A cloud as its bill names things.
#[derive(Debug, PartialEq, Eq)]
pub struct Cloud {
    /// Id, as in the tables of facts and in file names.
    pub id: &'static str,
    /// ProviderName.
    pub provider: &'static str,
    /// PublisherName.
    pub publisher: &'static str,
    /// InvoiceIssuerName.
    pub issuer: &'static str,
    /// BillingAccountId.
    pub billing_account: &'static str,
    /// BillingAccountName.
    pub billing_account_name: &'static str,
    /// BillingAccountType.
    pub billing_account_type: &'static str,
    /// SubAccountType.
    pub sub_account_type: &'static str,
    /// ServiceName of instances.
    pub compute: &'static str,
    /// ResourceType of instances.
    pub instance: &'static str,
    /// ServiceName of disks.
    pub disk: &'static str,
}

/// First cloud: negotiated prices, two commitments.
pub const AWS: Cloud = Cloud {
    id: "aws",
    provider: "AWS",
    publisher: "AWS",
    issuer: "Amazon Web Services, Inc.",
    billing_account: "100200300400",
    billing_account_name: "fernhollow-payer",
    billing_account_type: "Payer Account",
    sub_account_type: "Linked Account",
    compute: "Amazon Elastic Compute Cloud",
    instance: "EC2 Instance",
    disk: "Amazon Elastic Block Store",
};

/// Second cloud: list prices, one commitment.
pub const GCP: Cloud = Cloud {
    id: "gcp",
    provider: "Google Cloud",
    publisher: "Google",
    issuer: "Google Cloud",
    billing_account: "01A2B3-C4D5E6-F70819",
    billing_account_name: "Fernhollow Billing",
    billing_account_type: "Billing Account",
    sub_account_type: "Project",
    compute: "Compute Engine",
    instance: "Compute Instance",
    disk: "Compute Engine",
};

/// GPU cloud.
pub const NEBIUS: Cloud = Cloud {
    id: "nebius",
    provider: "Nebius",
    publisher: "Nebius",
    issuer: "Nebius B.V.",
    billing_account: "contract-e00fernhollow",
    billing_account_name: "Fernhollow Robotics",
    billing_account_type: "Contract",
    sub_account_type: "Project",
    compute: "Compute Cloud",
    instance: "Virtual Machine",
    disk: "Compute Cloud",
};

/// The clouds, in the order of their names.
pub const CLOUDS: [&Cloud; 3] = [&AWS, &GCP, &NEBIUS];

/// An account of a cloud in one of its regions.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Cloud.
    pub cloud: &'static Cloud,
    /// SubAccountId.
    pub account: &'static str,
    /// SubAccountName.
    pub account_name: &'static str,
    /// RegionId.
    pub region: &'static str,
    /// RegionName.
    pub region_name: &'static str,
    /// AvailabilityZone.
    pub zone: &'static str,
}

macro_rules! places {
    ($($name:ident = $cloud:ident, $account:literal, $account_name:literal, $region:literal, $region_name:literal, $zone:literal;)*) => {
        $(
            #[doc = concat!($account_name, " in ", $region)]
            pub const $name: &Place = &Place {
                cloud: &$cloud,
                account: $account,
                account_name: $account_name,
                region: $region,
                region_name: $region_name,
                zone: $zone,
            };
        )*
    };
}

places! {
    RESEARCH_EAST = AWS, "110000000001", "research", "us-east-1", "US East (N. Virginia)", "us-east-1b";
    RESEARCH_WEST = AWS, "110000000001", "research", "us-west-2", "US West (Oregon)", "us-west-2a";
    SERVING_EAST = AWS, "110000000002", "serving", "us-east-1", "US East (N. Virginia)", "us-east-1c";
    DEVELOPMENT_EAST = AWS, "110000000003", "development", "us-east-1", "US East (N. Virginia)", "us-east-1a";
    DEVELOPMENT_WEST = AWS, "110000000003", "development", "us-west-2", "US West (Oregon)", "us-west-2b";
    SHARED_EAST = AWS, "110000000004", "shared-services", "us-east-1", "US East (N. Virginia)", "us-east-1a";
    CHAT = GCP, "fernhollow-chat", "chat", "us-central1", "Iowa", "us-central1-a";
    CHAT_SECOND_ZONE = GCP, "fernhollow-chat", "chat", "us-central1", "Iowa", "us-central1-f";
    CODE = GCP, "fernhollow-code", "code-assistant", "us-central1", "Iowa", "us-central1-a";
    MODELS = GCP, "fernhollow-models", "models", "us-central1", "Iowa", "us-central1-c";
    FOUNDATION = NEBIUS, "project-e00foundation", "foundation", "eu-north1", "Finland", "eu-north1-a";
}
