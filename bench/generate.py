#!/usr/bin/env python3
"""Writes a seeded FOCUS 1.2 bill as CSV: hourly GPU and CPU charges of one month, with tags, commitments, tax and credits.

usage: generate.py ROWS FILE
"""
import random
import sys

COLUMNS = (
    "AvailabilityZone BilledCost BillingAccountId BillingAccountName BillingAccountType BillingCurrency BillingPeriodEnd "
    "BillingPeriodStart CapacityReservationId CapacityReservationStatus ChargeCategory ChargeClass ChargeDescription "
    "ChargeFrequency ChargePeriodEnd ChargePeriodStart CommitmentDiscountCategory CommitmentDiscountId CommitmentDiscountName "
    "CommitmentDiscountQuantity CommitmentDiscountStatus CommitmentDiscountType CommitmentDiscountUnit ConsumedQuantity "
    "ConsumedUnit ContractedCost ContractedUnitPrice EffectiveCost InvoiceId InvoiceIssuerName ListCost ListUnitPrice "
    "PricingCategory PricingCurrency PricingCurrencyContractedUnitPrice PricingCurrencyEffectiveCost "
    "PricingCurrencyListUnitPrice PricingQuantity PricingUnit ProviderName PublisherName RegionId RegionName ResourceId "
    "ResourceName ResourceType ServiceCategory ServiceName ServiceSubcategory SkuId SkuMeter SkuPriceDetails SkuPriceId "
    "SubAccountId SubAccountName SubAccountType Tags"
).split()

SKUS = [
    ("g5.xlarge", 1.006), ("g5.2xlarge", 1.212), ("g5.12xlarge", 5.672), ("g6.xlarge", 0.8048), ("p4d.24xlarge", 21.957642),
    ("p5.48xlarge", 55.04), ("m6i.large", 0.096), ("m6i.4xlarge", 0.768), ("r6i.2xlarge", 0.504), ("c6i.8xlarge", 1.36),
]
REGIONS = [("us-east-1", "US East (N. Virginia)"), ("us-west-2", "US West (Oregon)"), ("eu-west-1", "EU (Ireland)")]
TEAMS = ["vision", "speech", "search", "ads", "platform", "robotics", "safety", "data"]


def main() -> None:
    rows, path = int(sys.argv[1]), sys.argv[2]
    rng = random.Random(7)
    hours = 744
    resources = max(rows // hours, 1)
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write(",".join(COLUMNS) + "\n")
        written = 0
        for index in range(resources + 1):
            fixed = resource(rng, index)
            for hour in range(hours):
                if written == rows:
                    return
                out.write(line(rng, fixed, hour))
                written += 1


def resource(rng: random.Random, index: int) -> dict:
    sku, price = SKUS[rng.randrange(len(SKUS))]
    region, region_name = REGIONS[rng.randrange(len(REGIONS))]
    account = rng.randrange(40)
    tags = "{}"
    if rng.random() > 0.12:
        tags = '{"team":"%s","project":"p%d","env":"%s","Name":"node-%d"}' % (
            TEAMS[rng.randrange(len(TEAMS))], rng.randrange(60), "prod" if rng.random() < 0.5 else "dev", index)
    return {
        "sku": sku, "price": price, "region": region, "region_name": region_name, "account": account,
        "tags": '"' + tags.replace('"', '""') + '"', "id": f"i-{index:017x}", "name": f"node-{index}",
        "committed": rng.random() < 0.25, "details": '"{""InstanceType"":""%s""}"' % sku,
    }


def line(rng: random.Random, r: dict, hour: int) -> str:
    day, clock = divmod(hour, 24)
    start = f"2026-10-{day + 1:02d}T{clock:02d}:00:00Z"
    nday, nclock = divmod(hour + 1, 24)
    end = f"2026-10-{nday + 1:02d}T{nclock:02d}:00:00Z" if nday < 31 else "2026-11-01T00:00:00Z"
    quantity = 1.0 if rng.random() < 0.97 else rng.random()
    listed = r["price"] * quantity
    effective = listed * (0.62 if r["committed"] else 0.94)
    billed = 0.0 if r["committed"] else effective
    committed = r["committed"]
    category = "Usage"
    values = {
        "AvailabilityZone": r["region"] + "a", "BilledCost": f"{billed:.11f}", "BillingAccountId": "100000000001",
        "BillingAccountName": "Payer", "BillingAccountType": "Payer Account", "BillingCurrency": "USD",
        "BillingPeriodEnd": "2026-11-01T00:00:00Z", "BillingPeriodStart": "2026-10-01T00:00:00Z",
        "ChargeCategory": category, "ChargeDescription": f"${r['price']} per On Demand Linux {r['sku']} Instance Hour",
        "ChargeFrequency": "Usage-Based", "ChargePeriodEnd": end, "ChargePeriodStart": start,
        "CommitmentDiscountCategory": "Spend" if committed else "",
        "CommitmentDiscountId": f"arn:aws:savingsplans::1:savingsplan/{r['account'] % 6}" if committed else "",
        "CommitmentDiscountName": "ComputeSavingsPlan-1yr" if committed else "",
        "CommitmentDiscountQuantity": f"{effective:.6f}" if committed else "",
        "CommitmentDiscountStatus": "Used" if committed else "", "CommitmentDiscountType": "Savings Plan" if committed else "",
        "CommitmentDiscountUnit": "USD" if committed else "", "ConsumedQuantity": f"{quantity:.9f}", "ConsumedUnit": "Hours",
        "ContractedCost": f"{listed * 0.94:.11f}", "ContractedUnitPrice": f"{r['price'] * 0.94:.10f}",
        "EffectiveCost": f"{effective:.11f}", "InvoiceId": "INV-2026-10", "InvoiceIssuerName": "AWS",
        "ListCost": f"{listed:.11f}", "ListUnitPrice": f"{r['price']:.10f}",
        "PricingCategory": "Committed" if committed else "Standard", "PricingCurrency": "USD",
        "PricingCurrencyContractedUnitPrice": f"{r['price'] * 0.94:.10f}", "PricingCurrencyEffectiveCost": f"{effective:.11f}",
        "PricingCurrencyListUnitPrice": f"{r['price']:.10f}", "PricingQuantity": f"{quantity:.9f}", "PricingUnit": "Hours",
        "ProviderName": "AWS", "PublisherName": "AWS", "RegionId": r["region"], "RegionName": r["region_name"],
        "ResourceId": r["id"], "ResourceName": r["name"], "ResourceType": "EC2 Instance", "ServiceCategory": "Compute",
        "ServiceName": "AmazonEC2", "ServiceSubcategory": "Virtual Machines", "SkuId": "SKU-" + r["sku"], "SkuMeter": "Compute",
        "SkuPriceDetails": r["details"], "SkuPriceId": "SP-" + r["sku"], "SubAccountId": f"2000000000{r['account']:02d}",
        "SubAccountName": f"account-{r['account']}", "SubAccountType": "Linked Account", "Tags": r["tags"],
    }
    return ",".join(values.get(c, "") for c in COLUMNS) + "\n"


if __name__ == "__main__":
    main()
