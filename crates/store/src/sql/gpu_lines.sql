-- grain: one row per GPU resource, line kind, terms, hour and length; the hourly columns of the facts
-- Charges of an hour or less are one length (3600 seconds); longer ones keep theirs, to be spread.
SELECT ResourceId, x_LineKind, PricingCategory, CommitmentDiscountId, x_Hour, x_Seconds,
       sum(BilledCost) AS BilledCost, sum(EffectiveCost) AS EffectiveCost, sum(ConsumedQuantity) AS ConsumedQuantity
FROM (
  SELECT ResourceId, x_LineKind, coalesce(PricingCategory, 'Other') AS PricingCategory, CommitmentDiscountId, x_Hour,
         CASE WHEN x_PeriodSeconds <= 3600 THEN 3600 ELSE x_PeriodSeconds END AS x_Seconds,
         BilledCost, EffectiveCost, ConsumedQuantity
  FROM gpu_hours
  WHERE coalesce(ChargeCategory, 'Usage') = 'Usage' AND ResourceId IS NOT NULL AND coalesce(CommitmentDiscountStatus, 'Used') = 'Used'
) AS lines
WHERE {period:x_Hour}
GROUP BY ResourceId, x_LineKind, PricingCategory, CommitmentDiscountId, x_Hour, x_Seconds
ORDER BY ResourceId, x_LineKind, PricingCategory, CommitmentDiscountId, x_Seconds, x_Hour
