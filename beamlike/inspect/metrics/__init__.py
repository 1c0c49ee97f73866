"""What running queries count, for those who operate them: lines, log lines and OpenMetrics.

Read in this order: `log_lines` (a micro-batch in lines), `server` (the metrics on a port),
`watching` (all of it together).
"""

from beamlike.inspect.metrics.watching import MetricsListener, metrics_listener

__all__ = ["MetricsListener", "metrics_listener"]
