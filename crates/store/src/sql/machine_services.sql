-- grain: one row per cloud, GPU instance type and service that sold it
SELECT x_Cloud, x_Sku, ServiceName
FROM daily
WHERE x_LineKind = 'compute' AND x_GpuType IS NOT NULL AND x_Cloud IS NOT NULL AND x_Sku IS NOT NULL
  AND ServiceName IS NOT NULL AND {period:x_Day}
GROUP BY x_Cloud, x_Sku, ServiceName
