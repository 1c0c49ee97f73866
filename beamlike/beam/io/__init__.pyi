"""Beam's ``apache_beam.io``: what is here of it."""

from beamlike.api.pipelines.io.avro import ReadAllFromAvro as ReadAllFromAvro
from beamlike.api.pipelines.io.avro import ReadFromAvro as ReadFromAvro
from beamlike.api.pipelines.io.avro import WriteToAvro as WriteToAvro
from beamlike.api.pipelines.io.file_sinks import FileBasedSink as FileBasedSink
from beamlike.api.pipelines.io.parquet import ReadAllFromParquet as ReadAllFromParquet
from beamlike.api.pipelines.io.parquet import ReadAllFromParquetBatched as ReadAllFromParquetBatched
from beamlike.api.pipelines.io.parquet import ReadFromParquet as ReadFromParquet
from beamlike.api.pipelines.io.parquet import ReadFromParquetBatched as ReadFromParquetBatched
from beamlike.api.pipelines.io.parquet import WriteToParquet as WriteToParquet
from beamlike.api.pipelines.io.parquet import WriteToParquetBatched as WriteToParquetBatched
from beamlike.api.pipelines.io.range_trackers import (
    LexicographicKeyRangeTracker as LexicographicKeyRangeTracker,
)
from beamlike.api.pipelines.io.range_trackers import OffsetRangeTracker as OffsetRangeTracker
from beamlike.api.pipelines.io.range_trackers import (
    OrderedPositionRangeTracker as OrderedPositionRangeTracker,
)
from beamlike.api.pipelines.io.range_trackers import (
    UnsplittableRangeTracker as UnsplittableRangeTracker,
)
from beamlike.api.pipelines.io.sinks import Sink as Sink
from beamlike.api.pipelines.io.sinks import Write as Write
from beamlike.api.pipelines.io.sinks import Writer as Writer
from beamlike.api.pipelines.io.sources import Read as Read
from beamlike.api.pipelines.io.tables import ReadFromCsv as ReadFromCsv
from beamlike.api.pipelines.io.tables import ReadFromJson as ReadFromJson
from beamlike.api.pipelines.io.tables import WriteToCsv as WriteToCsv
from beamlike.api.pipelines.io.tables import WriteToJson as WriteToJson
from beamlike.api.pipelines.io.text import ReadAllFromText as ReadAllFromText
from beamlike.api.pipelines.io.text import ReadFromText as ReadFromText
from beamlike.api.pipelines.io.text import ReadFromTextWithFilename as ReadFromTextWithFilename
from beamlike.api.pipelines.io.text import WriteToText as WriteToText
from beamlike.api.pipelines.io.tfrecord import ReadAllFromTFRecord as ReadAllFromTFRecord
from beamlike.api.pipelines.io.tfrecord import ReadFromTFRecord as ReadFromTFRecord
from beamlike.api.pipelines.io.tfrecord import WriteToTFRecord as WriteToTFRecord
from beamlike.api.pipelines.io.watching import (
    ReadAllFromTextContinuously as ReadAllFromTextContinuously,
)
from beamlike.beam.io import avroio as avroio
from beamlike.beam.io import external as external
from beamlike.beam.io import filebasedsink as filebasedsink
from beamlike.beam.io import filebasedsource as filebasedsource
from beamlike.beam.io import fileio as fileio
from beamlike.beam.io import filesystem as filesystem
from beamlike.beam.io import filesystems as filesystems
from beamlike.beam.io import iobase as iobase
from beamlike.beam.io import kafka as kafka
from beamlike.beam.io import localfilesystem as localfilesystem
from beamlike.beam.io import parquetio as parquetio
from beamlike.beam.io import range_trackers as range_trackers
from beamlike.beam.io import restriction_trackers as restriction_trackers
from beamlike.beam.io import textio as textio
from beamlike.beam.io import tfrecordio as tfrecordio
from beamlike.beam.io import watermark_estimators as watermark_estimators
