//! Every table's columns. FOCUS column ids verbatim, ours with `x_`.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// Precision and scale of stored money: the same as `lowwater_model::money::Money`.
pub const MONEY: DataType = DataType::Decimal128(38, 12);

/// What a column holds, and so how its text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text; ids are text, always.
    Text,
    /// A cost: stored as money, summed exactly per file.
    Cost,
    /// A price or quantity: stored with twelve digits like money.
    Number,
    /// An instant.
    Time,
    /// A count or flag that we computed.
    Int,
}

impl Kind {
    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Cost | Self::Number => MONEY,
            Self::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Int => DataType::Int64,
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text }
}
const fn cost(name: &'static str) -> Column {
    Column { name, kind: Kind::Cost }
}
const fn number(name: &'static str) -> Column {
    Column {
        name,
        kind: Kind::Number,
    }
}
const fn time(name: &'static str) -> Column {
    Column { name, kind: Kind::Time }
}
const fn int(name: &'static str) -> Column {
    Column { name, kind: Kind::Int }
}

/// Columns of FOCUS Cost and Usage, 1.0 to 1.4 together.
pub const FOCUS: &[Column] = &[
    text("AllocatedMethodDetails"),
    text("AllocatedMethodId"),
    text("AllocatedResourceId"),
    text("AllocatedResourceName"),
    text("AllocatedTags"),
    text("AvailabilityZone"),
    cost("BilledCost"),
    text("BillingAccountId"),
    text("BillingAccountName"),
    text("BillingAccountType"),
    text("BillingCurrency"),
    time("BillingPeriodEnd"),
    time("BillingPeriodStart"),
    text("CapacityReservationId"),
    text("CapacityReservationStatus"),
    text("ChargeCategory"),
    text("ChargeClass"),
    text("ChargeDescription"),
    text("ChargeFrequency"),
    time("ChargePeriodEnd"),
    time("ChargePeriodStart"),
    text("CommitmentDiscountCategory"),
    text("CommitmentDiscountId"),
    text("CommitmentDiscountName"),
    number("CommitmentDiscountQuantity"),
    text("CommitmentDiscountStatus"),
    text("CommitmentDiscountType"),
    text("CommitmentDiscountUnit"),
    text("CommitmentProgramEligibilityDetails"),
    number("ConsumedQuantity"),
    text("ConsumedUnit"),
    text("ContractApplied"),
    cost("ContractedCost"),
    number("ContractedUnitPrice"),
    cost("EffectiveCost"),
    text("HostProviderName"),
    text("InvoiceDetailId"),
    text("InvoiceId"),
    text("InvoiceIssuerName"),
    cost("ListCost"),
    number("ListUnitPrice"),
    text("PricingCategory"),
    text("PricingCurrency"),
    number("PricingCurrencyContractedUnitPrice"),
    number("PricingCurrencyEffectiveCost"),
    number("PricingCurrencyListUnitPrice"),
    number("PricingQuantity"),
    text("PricingUnit"),
    text("ProviderName"),
    text("PublisherName"),
    text("RegionId"),
    text("RegionName"),
    text("ResourceId"),
    text("ResourceName"),
    text("ResourceType"),
    text("ServiceCategory"),
    text("ServiceName"),
    text("ServiceProviderName"),
    text("ServiceSubcategory"),
    text("SkuId"),
    text("SkuMeter"),
    text("SkuPriceDetails"),
    text("SkuPriceId"),
    text("SubAccountId"),
    text("SubAccountName"),
    text("SubAccountType"),
    text("Tags"),
];

/// Columns that the loader adds to every charge.
pub const ADDED: &[Column] = &[
    // Where the row came from: the replaceable unit.
    text("x_Source"),
    text("x_Account"),
    text("x_Month"),
    // Cloud id of the provider (`aws`), folded from its name.
    text("x_Cloud"),
    // Instance type, where it was found, and what it holds.
    text("x_Sku"),
    text("x_SkuEvidence"),
    text("x_GpuType"),
    number("x_GpuCount"),
    // GPU count x hours, for compute lines only.
    number("x_GpuHours"),
    // `compute` where the cost ends with the resource, else `other`.
    text("x_LineKind"),
    // Seconds of the charge period.
    int("x_PeriodSeconds"),
];

/// The day cube: charges by UTC day, every dimension, resource and tags. Most questions are answered from it.
///
/// One row stands for `x_Rows` charges of one file of charges, so the same dimensions may stand twice. Sums hold what
/// is known and are null where nothing is; over the whole table they are the sums over the charges, exactly.
pub const DAILY: &[Column] = &[
    text("x_Source"),
    text("x_Account"),
    text("x_Month"),
    // UTC day in which the charge period begins.
    time("x_Day"),
    time("BillingPeriodStart"),
    text("x_Cloud"),
    // ServiceProviderName, else ProviderName, else what `--provider` said.
    text("ProviderName"),
    text("BillingAccountId"),
    text("SubAccountId"),
    text("SubAccountName"),
    text("ServiceCategory"),
    text("ServiceName"),
    text("RegionId"),
    text("ChargeCategory"),
    text("ChargeClass"),
    text("PricingCategory"),
    text("CommitmentDiscountId"),
    text("CommitmentDiscountName"),
    text("CommitmentDiscountType"),
    text("CommitmentDiscountStatus"),
    text("CapacityReservationStatus"),
    text("ResourceId"),
    text("ResourceName"),
    text("ResourceType"),
    text("Tags"),
    text("x_Sku"),
    text("x_GpuType"),
    text("x_LineKind"),
    cost("BilledCost"),
    cost("EffectiveCost"),
    cost("ContractedCost"),
    cost("ListCost"),
    number("x_GpuHours"),
    // GPU count of each of its charges: a dimension.
    number("x_GpuCount"),
    int("x_Rows"),
];

/// The GPU cube: charges of resources that have a GPU, by the hour in which the charge period begins, its length and terms.
pub const GPU_HOURS: &[Column] = &[
    text("x_Source"),
    text("x_Account"),
    text("x_Month"),
    time("x_Hour"),
    int("x_PeriodSeconds"),
    text("ResourceId"),
    text("ResourceName"),
    text("SubAccountId"),
    text("SubAccountName"),
    text("RegionId"),
    text("x_Cloud"),
    text("x_Sku"),
    text("x_GpuType"),
    number("x_GpuCount"),
    text("x_LineKind"),
    text("ChargeCategory"),
    text("PricingCategory"),
    text("CommitmentDiscountId"),
    text("CommitmentDiscountStatus"),
    text("Tags"),
    cost("BilledCost"),
    cost("EffectiveCost"),
    cost("ContractedCost"),
    cost("ListCost"),
    // Hours of use (ConsumedQuantity, else PricingQuantity) of compute lines.
    number("ConsumedQuantity"),
    number("x_GpuHours"),
    int("x_Rows"),
];

/// Runs of jobs.
pub const JOBS: &[Column] = &[
    text("x_Source"),
    text("x_Month"),
    text("x_Job"),
    text("x_Workload"),
    time("x_Submitted"),
    time("x_Start"),
    // Null = it runs.
    time("x_End"),
    text("x_Sku"),
    number("x_Count"),
    // Accelerators in all.
    number("x_Gpus"),
    text("RegionId"),
    text("x_Market"),
    text("x_ExitState"),
    int("x_Checkpoints"),
    time("x_LastCheckpoint"),
    int("x_Restarts"),
    // Hosts that it ran on, a blank between two.
    text("x_Nodes"),
];

/// Prices of loaded price lists: for an hour of the whole instance.
pub const OFFERS: &[Column] = &[
    text("x_Source"),
    text("x_Cloud"),
    text("RegionId"),
    text("AvailabilityZone"),
    text("x_Sku"),
    text("x_GpuType"),
    number("x_GpuCount"),
    text("x_Market"),
    number("ListUnitPrice"),
    text("BillingCurrency"),
    // Day of the price, such as 2026-07-20.
    text("x_AsOf"),
];

/// Rows that were not kept, with the money at stake.
pub const REJECTS: &[Column] = &[
    text("x_Source"),
    text("x_Account"),
    text("x_Month"),
    text("file"),
    int("row"),
    text("column"),
    text("value"),
    text("reason"),
    text("at_stake"),
];

/// The hourly activity of one GPU (or MIG instance): mergeable histograms in seconds.
pub const USAGE: &[Column] = &[
    text("x_Source"),
    text("x_Month"),
    text("x_Host"),
    // UUID where known, else the index on the host.
    text("x_Gpu"),
    // MIG instance id; empty for a whole GPU.
    text("x_MigInstance"),
    text("x_MigProfile"),
    text("x_GpuModel"),
    text("x_Namespace"),
    time("x_Hour"),
    text("x_ActivityMetric"),
    // Seconds with a known activity, and with a known memory.
    int("x_ActivitySeconds"),
    int("x_MemorySeconds"),
    // Activity x seconds in millionths: the mean is exact over any window.
    int("x_ActivityMicroSeconds"),
    int("x_IdleSeconds"),
    int("x_LongestIdleSeconds"),
    int("x_MemoryTotalMib"),
    int("x_MemoryUsedMaxMib"),
    // Watts in thousandths x seconds, with its seconds; and the maximum in thousandths of a watt.
    int("x_PowerMilliWattSeconds"),
    int("x_PowerSeconds"),
    int("x_PowerMaxMilliWatt"),
    // First and last sample, epoch seconds, and a bit for each minute with a sample: what decides whether two loads overlap.
    int("x_FirstSample"),
    int("x_LastSample"),
    int("x_SampleMinutes"),
];

/// `x_Activity00` to `x_Activity19`: seconds in each twentieth of activity.
pub fn activity_bin(bin: usize) -> String {
    format!("x_Activity{bin:02}")
}

/// `x_Memory00` to `x_Memory19`: seconds in each twentieth of memory held.
pub fn memory_bin(bin: usize) -> String {
    format!("x_Memory{bin:02}")
}

/// A field of a column; everything may be unknown.
pub fn field(column: &Column) -> Field {
    Field::new(column.name, column.kind.data_type(), true)
}

/// Charges: FOCUS, what the loader adds, then the file's own extra columns (text, sorted).
pub fn charges(extra: &[String]) -> SchemaRef {
    let fixed = FOCUS.iter().chain(ADDED).map(field);
    let extra = extra.iter().map(|name| Field::new(name, DataType::Utf8, true));
    Arc::new(Schema::new(fixed.chain(extra).collect::<Vec<_>>()))
}

/// The day cube.
pub fn daily() -> SchemaRef {
    Arc::new(Schema::new(DAILY.iter().map(field).collect::<Vec<_>>()))
}

/// The GPU cube.
pub fn gpu_hours() -> SchemaRef {
    Arc::new(Schema::new(GPU_HOURS.iter().map(field).collect::<Vec<_>>()))
}

/// Rows that were not kept.
pub fn rejects() -> SchemaRef {
    Arc::new(Schema::new(REJECTS.iter().map(field).collect::<Vec<_>>()))
}

/// Runs of jobs.
pub fn jobs() -> SchemaRef {
    Arc::new(Schema::new(JOBS.iter().map(field).collect::<Vec<_>>()))
}

/// Prices of loaded lists.
pub fn offers() -> SchemaRef {
    Arc::new(Schema::new(OFFERS.iter().map(field).collect::<Vec<_>>()))
}

/// GPU activity by GPU and hour.
pub fn usage() -> SchemaRef {
    let bins = (0..lowwater_model::usage::BINS)
        .map(activity_bin)
        .chain((0..lowwater_model::usage::BINS).map(memory_bin));
    let bins = bins.map(|name| Field::new(name, DataType::Int64, true));
    Arc::new(Schema::new(USAGE.iter().map(field).chain(bins).collect::<Vec<_>>()))
}
