"""Text files, as Beam Python's ``apache_beam.io`` has them.

Read in this order: `files` (paths with wildcards and schemes), `writing` (all files of a collection
or none) and `text`. Other formats are for Beam's own SDK, see
`beamlike.runners.beam`, or for Spark.

Files are read, and shards are written, by functions of the pipeline: in this process, or by
tasks of Spark, which must see the same files.
"""
