-- grain: one row per cloud: what goes on from day to day, without taxes and without what was paid once, amortised or not
SELECT x_Cloud, sum(BilledCost) AS BilledCost, sum(EffectiveCost) AS EffectiveCost
FROM charges
WHERE coalesce(ChargeCategory, 'Usage') <> 'Tax' AND x_Cloud IS NOT NULL AND {period:ChargePeriodStart}
  AND NOT coalesce(ChargeCategory = 'Purchase' AND ChargeFrequency = 'One-Time', FALSE)
  AND (CommitmentDiscountId IS NULL OR CommitmentDiscountId NOT IN (
    SELECT CommitmentDiscountId FROM charges
    WHERE ChargeCategory = 'Purchase' AND ChargeFrequency = 'One-Time' AND CommitmentDiscountId IS NOT NULL))
GROUP BY x_Cloud
