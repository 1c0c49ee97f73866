"""What running queries count, for those who operate them: lines, log lines and OpenMetrics.

Read in this order: `progress` (one micro-batch, out of what Spark reports), `listening` (where
Spark reports it), `readings` (a micro-batch with all that its groupings counted), `families`
(metrics and their text form), `totals` (what the micro-batches of all queries add up to),
`log_lines` (the same in lines), `allowed` (which hosts a request may name), `answering` (one
request), `serving` (what listens on a port), `server` (the metrics on it), `watching` (all of it
together). The live view of `beamlike.viz` stands on the first two and on the server's parts.
"""

from beamlike.metrics.watching import MetricsListener, metrics_listener

__all__ = ["MetricsListener", "metrics_listener"]
