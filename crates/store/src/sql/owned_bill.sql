-- grain: as bill, with the owner of each row, or the label of what belongs to nobody
SELECT b.*, o.x_Untagged, o.x_Class,
       CASE
         WHEN b.CommitmentDiscountStatus = 'Unused' THEN '(unused commitment)'
         WHEN b.ChargeCategory = 'Purchase' THEN '(purchase)'
         WHEN b.ChargeCategory = 'Tax' THEN '(tax)'
         WHEN b.ChargeCategory = 'Credit' THEN '(credit)'
         WHEN lower(b.ServiceName) LIKE '%support%' THEN '(support)'
         WHEN b.ChargeCategory = 'Adjustment' OR (b.ChargeClass = 'Correction' AND b.BilledCost < 0) THEN '(refund)'
       END AS x_Label,
       o.x_Team, o.x_Project, o.x_Environment, o.x_Model, o.x_Workload
FROM {bill} b
LEFT JOIN owners o
  ON  (b.ResourceId IS NOT DISTINCT FROM o.ResourceId)
  AND (b.ResourceName IS NOT DISTINCT FROM o.ResourceName)
  AND (b.x_AccountId IS NOT DISTINCT FROM o.x_AccountId)
  AND (b.SubAccountName IS NOT DISTINCT FROM o.SubAccountName)
  AND (b.RegionId IS NOT DISTINCT FROM o.RegionId)
  AND (b.x_Sku IS NOT DISTINCT FROM o.x_Sku)
  AND (b.Tags IS NOT DISTINCT FROM o.Tags)
