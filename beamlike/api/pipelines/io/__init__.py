"""Files and other sources and sinks, as Beam Python's ``apache_beam.io`` has them.

Read in this order: `errors` (what is raised), `compression` (by the end of a name), `file_systems`
(what a system of files can do, and that of this machine) and `fsspec_files` (others), `filesystems`
(which of them a path is in). Then what is read: `range_trackers` and `sources` (sources of one's
own), `restrictions` and `watermark_estimators` (parts of an element's work), `file_sources` (of
files), `records` (how text is cut). Then what is written: `sinks` (how a sink writes whole files or
none),  and `file_sinks`. Then the formats: `text`, `parquet`, `avro`, `tables` (CSV and JSON),
`tfrecord`, and `records_of_rows` (elements as their records); and files as elements: `fileio`,
`file_names` and `file_writing`. `sequences` makes numbers and impulses, `watching` looks for new
files at these, and `kafka` reads and writes topics on Spark.

Sources are read, and shards are written, by functions of the pipeline: in this process, or by
tasks of Spark, which must see the same files. A shard is written into a hidden folder beside its
place and renamed when all of it is there; what a run that failed left there is removed.
"""
