-- grain: one row per resource, hour and terms in which the resource was billed by the hour and idle
SELECT h.x_Hour, h.x_Month, h.x_Account, h.ResourceId, h.ResourceName, h.SubAccountId, h.SubAccountName, h.RegionId,
       h.x_Cloud, h.x_Sku, h.x_GpuType, h.Tags, h.ChargeCategory, h.PricingCategory, h.CommitmentDiscountStatus,
       h.BilledCost AS x_IdleBilledCost, h.EffectiveCost AS x_IdleEffectiveCost,
       h.ContractedCost AS x_IdleContractedCost, h.ListCost AS x_IdleListCost
FROM gpu_hours h
JOIN resource_hours r ON h.ResourceId = r.ResourceId AND h.x_Hour = r.x_Hour
WHERE r.x_Idle AND h.x_LineKind = 'compute' AND h.x_PeriodSeconds <= 3600
