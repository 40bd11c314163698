-- grain: one row per resource, hour and billing month in which the resource was billed by the hour and observed
SELECT h.ResourceId, h.x_Hour, h.x_Month, date_trunc('day', {local:h.x_Hour}) AS x_Day,
       max(r.x_ActivityMicroSeconds) AS x_ActivityMicroSeconds,
       sum(h.BilledCost) AS BilledCost, sum(h.EffectiveCost) AS EffectiveCost,
       sum(h.ContractedCost) AS ContractedCost, sum(h.ListCost) AS ListCost
FROM gpu_hours h
JOIN resource_hours r ON h.ResourceId = r.ResourceId AND h.x_Hour = r.x_Hour
WHERE h.x_LineKind = 'compute' AND h.x_PeriodSeconds <= 3600
GROUP BY h.ResourceId, h.x_Hour, h.x_Month
