-- grain: one row per commitment discount and status
SELECT CommitmentDiscountId, max(CommitmentDiscountName) AS CommitmentDiscountName,
       max(CommitmentDiscountType) AS CommitmentDiscountType, CommitmentDiscountStatus,
       sum(BilledCost) AS BilledCost, sum(EffectiveCost) AS EffectiveCost
FROM daily
WHERE CommitmentDiscountId IS NOT NULL AND coalesce(ChargeCategory, 'Usage') = 'Usage' AND {period:x_Day}
GROUP BY CommitmentDiscountId, CommitmentDiscountStatus
