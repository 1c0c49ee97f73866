"""Topics of Kafka for DataFrames, on Spark alone.

Read in this order: `formats` (how keys and values are written), `reading` (records as a stream),
`writing` (panes as records).
"""
