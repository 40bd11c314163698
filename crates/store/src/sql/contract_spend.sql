-- grain: one row per cloud: what counts towards a contract's minimum (everything but taxes), and its first day
SELECT x_Cloud, min(x_Day) AS x_Day, sum(BilledCost) AS BilledCost
FROM daily
WHERE coalesce(ChargeCategory, 'Usage') <> 'Tax' AND x_Cloud IS NOT NULL AND {period:x_Day}
GROUP BY x_Cloud
