-- grain: one row per charge, with its day in the owner's zone
-- A charge longer than a day is of the day that the bill names, in UTC: a month that begins on the first there does so
-- everywhere. A day of 25 hours, when clocks go back, is still a day.
SELECT *,
       date_trunc('day', CASE WHEN x_PeriodSeconds > 90000 THEN ChargePeriodStart
                              ELSE {local:ChargePeriodStart} END) AS x_Day
FROM charges
