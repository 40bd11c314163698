-- grain: one row per charge category, and whether a commitment is involved; what differs between the metrics
SELECT ChargeCategory, CommitmentDiscountId IS NOT NULL AS x_Committed,
       sum(BilledCost) AS BilledCost, sum(EffectiveCost) AS EffectiveCost
FROM daily
WHERE {period:x_Day}
GROUP BY ChargeCategory, CommitmentDiscountId IS NOT NULL
