//! A Prometheus server: named in the list of formats, read by [`crate::prometheus`].

use super::{Decode, Format};

/// The format.
pub const FORMAT: Format = Format {
    name: "prometheus",
    title: "a Prometheus server",
    doc: "`lowwater load http://HOST:9090 --format prometheus`: range queries for the metrics that `dcgm` reads, one value for each `--step` \
(60 s: the last sample of that minute, nothing where there is none), in pages of at most 11,000 points a series and 32 MiB. Each day is committed \
whole; the next load goes on from the last whole hour, unless `--start` says otherwise. The source is `prometheus/CLUSTER`, and hosts are `CLUSTER/HOST`: \
the cluster is `--cluster`, else the server's external label `cluster`, else its host and port; a label `cluster` on a series goes before it. A GPU \
without `Hostname` takes the label `node`, then `instance` without its port, then `--host`. `kube_node_info` says which provider id a node has, which \
joins it to the bill; `hosts.csv` goes before that. Values outside their range are unknown. Thanos, Mimir and VictoriaMetrics answer the same queries; \
`--tenant` is `X-Scope-OrgID`. A login is read from `LOWWATER_PROMETHEUS_TOKEN` or `--token-file`, or from `LOWWATER_PROMETHEUS_USER` and \
`LOWWATER_PROMETHEUS_PASSWORD`, never from the URL.",
    detects: |_| false,
    decode: Decode::Server,
};
