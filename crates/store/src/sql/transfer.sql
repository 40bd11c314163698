-- grain: one row per workload and resource that paid for data leaving its region
-- Bills name it in the meter or only in the description: `DataTransfer-Out-Bytes`, `USE1-USW2-AWS-Out-Bytes`, `Network Inter
-- Region Egress`, `Inter Continent Data Transfer Out`. Traffic that stays in a region is none.
SELECT o.x_Workload, c.ResourceId, sum(c.BilledCost) AS BilledCost, sum(c.EffectiveCost) AS EffectiveCost
FROM (
  SELECT ResourceId, ResourceName, coalesce(SubAccountId, x_Account) AS x_AccountId, SubAccountName, RegionId, x_Sku, Tags,
         BilledCost, EffectiveCost, lower(coalesce(SkuMeter, '') || ' ' || coalesce(ChargeDescription, '')) AS said
  FROM charges
  WHERE coalesce(ChargeCategory, 'Usage') = 'Usage' AND x_LineKind = 'other' AND {period:ChargePeriodStart}
) c
LEFT JOIN owners o
  ON  (c.ResourceId IS NOT DISTINCT FROM o.ResourceId)
  AND (c.ResourceName IS NOT DISTINCT FROM o.ResourceName)
  AND (c.x_AccountId IS NOT DISTINCT FROM o.x_AccountId)
  AND (c.SubAccountName IS NOT DISTINCT FROM o.SubAccountName)
  AND (c.RegionId IS NOT DISTINCT FROM o.RegionId)
  AND (c.x_Sku IS NOT DISTINCT FROM o.x_Sku)
  AND (c.Tags IS NOT DISTINCT FROM o.Tags)
WHERE (said LIKE '%out-bytes%' OR said LIKE '%egress%' OR said LIKE '%transfer out%' OR said LIKE '%inter region%' OR said LIKE '%inter-region%')
  AND said NOT LIKE '%regional-bytes%' AND said NOT LIKE '%zone%' AND said NOT LIKE '%intra region%' AND said NOT LIKE '%intra-region%'
GROUP BY o.x_Workload, c.ResourceId
ORDER BY o.x_Workload, c.ResourceId
