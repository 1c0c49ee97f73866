"""Hosts carry events in and panes out. They decide nothing: every rule is a machine's.

What they carry them to is `beamlike.runtime`. Read in this order: `clock` (the time of day),
`garbage` (when Python looks for it), `frames` (what becomes of the rows of a query, whichever host
has them), `finding` (which host that is), `failed_starts` (what helps when Spark starts no query,
or a worker dies), `step_notes` (what a worker that is gone did last), `pyspark_types` (types of
Spark as fields of Arrow), `expressions` (expressions of Spark over tables), `in_process` (whole
pipelines in this process, by the reference machine or by the runtime), then the hosts that have
more to them: `local` (the runtime in this process, without Spark), `spark` (streaming queries and
bounded DataFrames). The tables in which results land are in `landing`, and `kafka_connector` asks
Spark's connector of Kafka.
"""
