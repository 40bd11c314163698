-- grain: one row per joined resource and hour
-- A resource is idle in an hour only if all its GPUs were observed long enough and none left the lowest
-- activity bin. What was not measured on every GPU is unknown for the resource; where nobody says how many GPUs it
-- has (x_Gpus is 0), none is known to be all of them.
SELECT g.ResourceId, a.x_Hour,
       count(*) AS x_Gpus,
       min(coalesce(a.x_ActivitySeconds, 0)) AS x_ObservedSeconds,
       sum(a.x_ActivityMicroSeconds) AS x_ActivityMicroSeconds,
       sum(a.x_ActivitySeconds) AS x_ActivitySeconds,
       max(a.x_ActivityMaxBin) AS x_ActivityMaxBin,
       CASE WHEN count(a.x_MemoryMaxBin) = count(*) THEN max(a.x_MemoryMaxBin) END AS x_MemoryMaxBin,
       CASE WHEN count(a.x_PowerMaxMilliWatt) = count(*) THEN max(a.x_PowerMaxMilliWatt) END AS x_PowerMaxMilliWatt,
       max(g.x_Gpus) > 0
         AND count(*) >= max(g.x_Gpus)
         AND min(coalesce(a.x_ActivitySeconds, 0)) >= {min_observed_seconds}
         AND max(coalesce(a.x_ActivityMaxBin, 19)) = 0 AS x_Idle
FROM gpu_activity a
JOIN gpu_resources g ON a.x_Host = g.x_Host AND a.x_Gpu = g.x_Gpu
GROUP BY g.ResourceId, a.x_Hour
