-- grain: one row per day, resource and terms; rows of cost and rows of idle cost apart, so that either may be summed
SELECT x_Day, x_Month, ServiceName, ChargeCategory, ChargeClass, PricingCategory, CommitmentDiscountStatus,
       ResourceId, ResourceName, coalesce(SubAccountId, x_Account) AS x_AccountId, SubAccountName, RegionId,
       x_Cloud, x_Sku, x_GpuType, Tags, CommitmentDiscountId IS NOT NULL AS x_Committed,
       BilledCost, EffectiveCost, ContractedCost, ListCost, x_GpuHours,
       {zero} AS x_IdleBilledCost, {zero} AS x_IdleEffectiveCost, {zero} AS x_IdleContractedCost, {zero} AS x_IdleListCost
FROM {days}
UNION ALL
SELECT date_trunc('day', {local:x_Hour}) AS x_Day, x_Month, NULL AS ServiceName, ChargeCategory, NULL AS ChargeClass,
       PricingCategory, CommitmentDiscountStatus, ResourceId, ResourceName,
       coalesce(SubAccountId, x_Account) AS x_AccountId, SubAccountName, RegionId, x_Cloud, x_Sku, x_GpuType, Tags,
       false AS x_Committed, {zero} AS BilledCost, {zero} AS EffectiveCost, {zero} AS ContractedCost, {zero} AS ListCost, {zero} AS x_GpuHours,
       x_IdleBilledCost, x_IdleEffectiveCost, x_IdleContractedCost, x_IdleListCost
FROM idle_hours
