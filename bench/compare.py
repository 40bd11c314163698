#!/usr/bin/env python3
"""Lowwater against DuckDB on the same file, side by side, interleaved, in one run. Prints a Markdown table of ratios.

usage: compare.py LOWWATER_BINARY [ROWS]      (needs: pip install duckdb)

Both read the same FOCUS CSV, keep money exact (DECIMAL(38,12)), sort by the same key, write Parquet with zstd(3) and
build the same two cubes. DuckDB is given every column's type and its faster setting (preserve_insertion_order=false).
Times are wall and CPU seconds of the whole process, medians; memory is the peak of the process.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
RUNS = 3

DUCK_LOAD = r"""
import duckdb, sys
source, out = sys.argv[1], sys.argv[2]
sys.path.insert(0, sys.argv[3])
from generate import COLUMNS
money = {c for c in COLUMNS if c.endswith(("Cost", "UnitPrice", "Quantity"))}
time = {c for c in COLUMNS if c.endswith(("Start", "End"))}
types = {c: "DECIMAL(38,12)" if c in money else "TIMESTAMP" if c in time else "VARCHAR" for c in COLUMNS}
db = duckdb.connect()
db.execute("SET threads=2; SET preserve_insertion_order=false")
db.execute(f"CREATE VIEW bill AS SELECT *, json_extract_string(SkuPriceDetails, '$.InstanceType') AS x_Sku FROM read_csv('{source}', header=true, columns={types}, auto_detect=false, quote='\"', escape='\"')")
db.execute(f"COPY (SELECT * FROM bill ORDER BY date_trunc('day', ChargePeriodStart), x_Sku, RegionId, SubAccountId, ResourceId, ChargePeriodStart) TO '{out}/charges.parquet' (FORMAT parquet, COMPRESSION zstd)")
dims = "SubAccountId, SubAccountName, ServiceName, RegionId, ChargeCategory, PricingCategory, CommitmentDiscountId, CommitmentDiscountStatus, ResourceId, ResourceName, Tags, x_Sku"
sums = "sum(BilledCost) AS BilledCost, sum(EffectiveCost) AS EffectiveCost, sum(ContractedCost) AS ContractedCost, sum(ListCost) AS ListCost, sum(ConsumedQuantity) AS ConsumedQuantity"
db.execute(f"COPY (SELECT date_trunc('day', ChargePeriodStart) AS x_Day, {dims}, {sums} FROM '{out}/charges.parquet' GROUP BY ALL) TO '{out}/daily.parquet' (FORMAT parquet, COMPRESSION zstd)")
db.execute(f"COPY (SELECT ChargePeriodStart AS x_Hour, {dims}, {sums} FROM '{out}/charges.parquet' WHERE x_Sku LIKE 'g%' OR x_Sku LIKE 'p%' GROUP BY ALL) TO '{out}/gpu_hours.parquet' (FORMAT parquet, COMPRESSION zstd)")
"""

DUCK_QUERY = r"""
import duckdb, sys
out, table = sys.argv[1], sys.argv[2]
db = duckdb.connect()
db.execute("SET threads=2")
rows = db.execute(f"SELECT coalesce(json_extract_string(Tags, '$.team'), '(unallocated)') AS team, sum(EffectiveCost) AS cost FROM '{out}/{table}.parquet' GROUP BY 1 ORDER BY 2 DESC").fetchall()
print(sum(r[1] for r in rows))
"""


def run(command: list[str]) -> tuple[float, float, float, str]:
    """Wall seconds, CPU seconds, peak MiB, standard output."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"failed: {command}\n{output}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def medians(runs: list[tuple]) -> tuple[float, float]:
    return statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs)


def row(name: str, ours: list[tuple], theirs: list[tuple]) -> str:
    (w1, c1), (w2, c2) = medians(ours), medians(theirs)
    m1, m2 = max(r[2] for r in ours), max(r[2] for r in theirs)
    times = f"{w1:.2f} / {c1:.2f} | {w2:.2f} / {c2:.2f} | {w1 / w2:.2f} | {c1 / c2:.2f}"
    return f"| {name} | {times} | {m1:,.0f} / {m2:,.0f} |"


def main() -> None:
    lowwater, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    work = pathlib.Path(tempfile.mkdtemp(prefix="lowwater-bench-"))
    try:
        bill = work / "bill.csv"
        subprocess.run([sys.executable, HERE / "generate.py", str(rows), bill], check=True)
        print(f"{rows:,} rows, {bill.stat().st_size / 1e6:,.0f} MB of CSV, {os.cpu_count()} cores\n")
        ours, theirs = [], []
        for i in range(RUNS):
            mine, duck = work / f"lowwater-{i}", work / f"duck-{i}"
            mine.mkdir()
            duck.mkdir()
            ours.append(run([lowwater, "load", str(bill), "--data", str(mine), "--quiet"]))
            theirs.append(run([sys.executable, "-c", DUCK_LOAD, str(bill), str(duck), str(HERE)]))
        queries = {"report": [], "daily": [], "charges": []}
        report = [lowwater, "report", "--by", "team", "--metric", "effective", "--json", "--data", str(work / "lowwater-0")]
        for _ in range(RUNS + 2):
            queries["report"].append(run(report))
            for table in ("daily", "charges"):
                queries[table].append(run([sys.executable, "-c", DUCK_QUERY, str(work / "duck-0"), table]))
        total = json.loads(queries["report"][0][3])["total"]
        assert abs(float(total) - float(queries["daily"][0][3])) < 1e-6, (total, queries["daily"][0][3])
        print("| what | Lowwater wall / CPU s | DuckDB wall / CPU s | wall ratio | CPU ratio | peak MiB |")
        print("|---|---|---|---|---|---|")
        print(row("load: CSV to sorted Parquet with two cubes", ours, theirs))
        print(row("cost by team, whole process, DuckDB on its day cube", queries["report"], queries["daily"]))
        print(row("cost by team, whole process, DuckDB on all rows", queries["report"], queries["charges"]))
        print(f"\ntotals agree: {total}")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
