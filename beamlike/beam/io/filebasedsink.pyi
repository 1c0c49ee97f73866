"""Beam's ``apache_beam.io.filebasedsink``: what is here of it."""

from beamlike.api.pipelines.io.compression import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.io.errors import BeamIOError as BeamIOError
from beamlike.api.pipelines.io.file_sinks import FileBasedSink as FileBasedSink
from beamlike.api.pipelines.io.file_sinks import FileBasedSinkWriter as FileBasedSinkWriter
from beamlike.api.pipelines.io.filesystems import FileSystems as FileSystems
from beamlike.api.pipelines.value_providers import StaticValueProvider as StaticValueProvider
from beamlike.api.pipelines.value_providers import ValueProvider as ValueProvider
from beamlike.api.pipelines.value_providers import check_accessible as check_accessible
from beamlike.beam.io import iobase as iobase
from beamlike.beam.transforms import window as window
