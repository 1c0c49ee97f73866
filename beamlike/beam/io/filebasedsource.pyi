"""Beam's ``apache_beam.io.filebasedsource``: what is here of it."""

from beamlike.api.pipelines.io.compression import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.io.file_sources import FileBasedSource as FileBasedSource
from beamlike.api.pipelines.io.file_sources import ReadAllFiles as ReadAllFiles
from beamlike.api.pipelines.io.file_systems import FileMetadata as FileMetadata
from beamlike.api.pipelines.io.filesystems import FileSystems as FileSystems
from beamlike.api.pipelines.io.restrictions import OffsetRange as OffsetRange
from beamlike.api.pipelines.pairs import Reshuffle as Reshuffle
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.value_providers import StaticValueProvider as StaticValueProvider
from beamlike.api.pipelines.value_providers import ValueProvider as ValueProvider
from beamlike.api.pipelines.value_providers import check_accessible as check_accessible
from beamlike.beam.io import iobase as iobase
from beamlike.beam.io import range_trackers as range_trackers
