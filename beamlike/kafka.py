"""Topics of Kafka for DataFrames: records as a stream, and panes as records.

The windows of Kafka Streams are `beamlike.dialects.kafka`. Pipelines have `beamlike.beam.io.kafka`.

=========  ================================================================================
`read`     the records of topics as a `beamlike.Stream`, each partition with its watermark
`write`    panes as records of a topic that may be compacted, and what was dropped as those
           of another
`Json`     how values and keys are written; and `Avro`, `Text`, `Bytes`
=========  ================================================================================
"""

from beamlike.api.kafka.formats import Avro, Bytes, Format, Json, Text
from beamlike.api.kafka.reading import read
from beamlike.api.kafka.writing import write

__all__ = ["Avro", "Bytes", "Format", "Json", "Text", "read", "write"]
