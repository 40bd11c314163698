-- grain: one row per distinct set of what a workload selector may look at
SELECT DISTINCT ResourceId, ResourceName, x_AccountId, SubAccountName, RegionId, x_Sku, Tags
FROM bill
