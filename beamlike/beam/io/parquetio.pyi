"""Beam's ``apache_beam.io.parquetio``: what is here of it."""

from beamlike.api.pipelines.io.compression import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.io.filesystems import FileSystems as FileSystems
from beamlike.api.pipelines.io.parquet import ReadAllFromParquet as ReadAllFromParquet
from beamlike.api.pipelines.io.parquet import ReadAllFromParquetBatched as ReadAllFromParquetBatched
from beamlike.api.pipelines.io.parquet import ReadFromParquet as ReadFromParquet
from beamlike.api.pipelines.io.parquet import ReadFromParquetBatched as ReadFromParquetBatched
from beamlike.api.pipelines.io.parquet import WriteToParquet as WriteToParquet
from beamlike.api.pipelines.io.parquet import WriteToParquetBatched as WriteToParquetBatched
from beamlike.api.pipelines.io.range_trackers import RangeTracker as RangeTracker
from beamlike.api.pipelines.io.sinks import Write as Write
from beamlike.api.pipelines.io.sources import Read as Read
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.windows import WindowedValue as WindowedValue
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.beam.io import filebasedsink as filebasedsink
from beamlike.beam.io import filebasedsource as filebasedsource
from beamlike.beam.transforms import window as window
