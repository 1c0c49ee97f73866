"""What running queries count, for whoever watches them: lines, log lines and OpenMetrics.

Read in this order: `progress` (one micro-batch, out of what Spark reports), `listening` (where
Spark reports it), `readings` (a micro-batch with all that its groupings counted), `families`
(metrics and their text form), `totals` (what the micro-batches of all queries add up to), `telling`
(the same in lines), `serving` (what listens on a port), `server` (who may ask for it), `watching`
(all of it together). The live view of `beamlike.viz` stands on the first two.
"""

from beamlike.metrics.watching import MetricsListener, metrics_listener

__all__ = ["MetricsListener", "metrics_listener"]
