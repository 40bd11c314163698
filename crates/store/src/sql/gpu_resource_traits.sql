-- grain: one row per GPU resource: its newest name, tags and SKU
SELECT ResourceId, last_value(ResourceName ORDER BY x_Hour) AS ResourceName,
       last_value(coalesce(SubAccountId, x_Account) ORDER BY x_Hour) AS x_AccountId,
       last_value(SubAccountName ORDER BY x_Hour) AS SubAccountName,
       last_value(RegionId ORDER BY x_Hour) AS RegionId,
       last_value(x_Cloud ORDER BY x_Hour) AS x_Cloud,
       last_value(x_Sku ORDER BY x_Hour) AS x_Sku,
       last_value(x_GpuType ORDER BY x_Hour) AS x_GpuType,
       last_value(x_GpuCount ORDER BY x_Hour) AS x_GpuCount,
       last_value(Tags ORDER BY x_Hour) AS Tags,
       sum(EffectiveCost) AS EffectiveCost, sum(BilledCost) AS BilledCost
FROM gpu_hours
WHERE ResourceId IS NOT NULL AND x_LineKind = 'compute'
GROUP BY ResourceId
