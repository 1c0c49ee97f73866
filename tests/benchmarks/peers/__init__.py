"""The same sessions on other engines: ``python -m tests.benchmarks.peers``.

Read in this order: `events` (the rows, and the exact sessions by a plain computation), `jobs`,
`spark_jobs` and `flink_sessions` (the sessions in the words of each engine), `engines` (which there
are, and how each is started), `trials` (a run, its figures, and the comparison).
"""
