-- grain: one row per day (UTC): GPU-hours billed, and observed on resources that are billed
SELECT x_Day, sum(x_Billed) AS x_BilledGpuHours, sum(x_Observed) AS x_ObservedGpuSeconds
FROM (
  SELECT date_trunc('day', x_Hour) AS x_Day, x_GpuHours AS x_Billed, 0 AS x_Observed
  FROM gpu_hours WHERE x_LineKind = 'compute' AND x_GpuType IS NOT NULL
  UNION ALL
  SELECT date_trunc('day', x_Hour), {zero}, x_ActivitySeconds FROM resource_hours
)
GROUP BY x_Day
ORDER BY x_Day
