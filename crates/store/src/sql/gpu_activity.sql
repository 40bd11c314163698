-- grain: one row per host, GPU and hour
-- A GPU in MIG mode has rows of its instances: where its own row knows no activity, theirs are weighed by
-- compute slices of seven (slices that no instance holds are idle). Values of the whole GPU, such as power,
-- are repeated on every instance and counted once.
WITH rows AS (
  SELECT x_Host, x_Gpu, x_Hour, x_ActivityMetric, x_ActivitySeconds, x_ActivityMicroSeconds, x_IdleSeconds,
         x_MemorySeconds, x_PowerMaxMilliWatt, x_PowerSeconds,
         coalesce(x_MigInstance, '') = '' AS x_Whole,
         -- `3g.20gb` has three slices; `1g.5gb+me` one.
         CASE WHEN x_MigProfile LIKE '%g.%' THEN CAST(split_part(x_MigProfile, 'g', 1) AS BIGINT) ELSE 0 END AS x_Slices,
         CASE
           WHEN x_Activity19 > 0 THEN 19
           WHEN x_Activity18 > 0 THEN 18
           WHEN x_Activity17 > 0 THEN 17
           WHEN x_Activity16 > 0 THEN 16
           WHEN x_Activity15 > 0 THEN 15
           WHEN x_Activity14 > 0 THEN 14
           WHEN x_Activity13 > 0 THEN 13
           WHEN x_Activity12 > 0 THEN 12
           WHEN x_Activity11 > 0 THEN 11
           WHEN x_Activity10 > 0 THEN 10
           WHEN x_Activity09 > 0 THEN 9
           WHEN x_Activity08 > 0 THEN 8
           WHEN x_Activity07 > 0 THEN 7
           WHEN x_Activity06 > 0 THEN 6
           WHEN x_Activity05 > 0 THEN 5
           WHEN x_Activity04 > 0 THEN 4
           WHEN x_Activity03 > 0 THEN 3
           WHEN x_Activity02 > 0 THEN 2
           WHEN x_Activity01 > 0 THEN 1
           WHEN x_Activity00 > 0 THEN 0
         END AS x_ActivityMaxBin,
         CASE
           WHEN x_Memory19 > 0 THEN 19
           WHEN x_Memory18 > 0 THEN 18
           WHEN x_Memory17 > 0 THEN 17
           WHEN x_Memory16 > 0 THEN 16
           WHEN x_Memory15 > 0 THEN 15
           WHEN x_Memory14 > 0 THEN 14
           WHEN x_Memory13 > 0 THEN 13
           WHEN x_Memory12 > 0 THEN 12
           WHEN x_Memory11 > 0 THEN 11
           WHEN x_Memory10 > 0 THEN 10
           WHEN x_Memory09 > 0 THEN 9
           WHEN x_Memory08 > 0 THEN 8
           WHEN x_Memory07 > 0 THEN 7
           WHEN x_Memory06 > 0 THEN 6
           WHEN x_Memory05 > 0 THEN 5
           WHEN x_Memory04 > 0 THEN 4
           WHEN x_Memory03 > 0 THEN 3
           WHEN x_Memory02 > 0 THEN 2
           WHEN x_Memory01 > 0 THEN 1
           WHEN x_Memory00 > 0 THEN 0
         END AS x_MemoryMaxBin
  FROM usage
)
SELECT x_Host, x_Gpu, x_Hour,
       min(x_ActivityMetric) AS x_ActivityMetric,
       coalesce(max(CASE WHEN x_Whole THEN nullif(x_ActivitySeconds, 0) END), max(x_ActivitySeconds)) AS x_ActivitySeconds,
       coalesce(max(CASE WHEN x_Whole AND x_ActivitySeconds > 0 THEN x_ActivityMicroSeconds END),
                sum(x_ActivityMicroSeconds * x_Slices) / 7) AS x_ActivityMicroSeconds,
       max(x_ActivityMaxBin) AS x_ActivityMaxBin,
       CASE WHEN sum(x_MemorySeconds) > 0 THEN max(x_MemoryMaxBin) END AS x_MemoryMaxBin,
       CASE WHEN sum(x_PowerSeconds) > 0 THEN max(x_PowerMaxMilliWatt) END AS x_PowerMaxMilliWatt
FROM rows
GROUP BY x_Host, x_Gpu, x_Hour
