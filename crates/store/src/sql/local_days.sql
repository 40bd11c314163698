-- grain: as the daily cube, but by days of the owner's zone; read from every charge, for zones other than UTC
SELECT x_Day, x_Month, x_Account, ServiceName, ChargeCategory, ChargeClass,
       PricingCategory, CommitmentDiscountStatus, ResourceId, ResourceName, SubAccountId, SubAccountName, RegionId,
       x_Cloud, x_Sku, x_GpuType, x_LineKind, Tags, CommitmentDiscountId,
       sum(BilledCost) AS BilledCost, sum(EffectiveCost) AS EffectiveCost,
       sum(ContractedCost) AS ContractedCost, sum(ListCost) AS ListCost, sum(x_GpuHours) AS x_GpuHours
FROM charge_days
GROUP BY x_Day, x_Month, x_Account, ServiceName, ChargeCategory, ChargeClass,
         PricingCategory, CommitmentDiscountStatus, ResourceId, ResourceName, SubAccountId, SubAccountName, RegionId,
         x_Cloud, x_Sku, x_GpuType, x_LineKind, Tags, CommitmentDiscountId
