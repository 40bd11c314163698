-- grain: one row per cloud, region, SKU and pricing category: what an hour really cost in the last thirty days
SELECT x_Cloud, RegionId, x_Sku, PricingCategory, max(x_Hour) AS x_Hour,
       sum(BilledCost) AS BilledCost, sum(EffectiveCost) AS EffectiveCost, sum(ConsumedQuantity) AS ConsumedQuantity
FROM gpu_hours
WHERE x_LineKind = 'compute' AND coalesce(ChargeCategory, 'Usage') = 'Usage' AND x_Sku IS NOT NULL AND ConsumedQuantity > 0
  AND PricingCategory IN ('Standard', 'Dynamic') AND CommitmentDiscountId IS NULL AND {period:x_Hour}
GROUP BY x_Cloud, RegionId, x_Sku, PricingCategory
