"""The local host: the runtime of production in this process, without Spark.

Read in this order: `nodes` (the groupings of a pipeline as shards of production, and a script for
one stage as such a pipeline), `tables` (queries of DataFrames over tables).
"""

from beamlike.extras import needs

needs('host="local"', "local", ', or run it with host="memory", which needs neither')
