"""Beam's ``apache_beam.io.filesystems``: what is here of it."""

from beamlike.api.pipelines.io.compression import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.io.errors import BeamIOError as BeamIOError
from beamlike.api.pipelines.io.file_systems import FileSystem as FileSystem
from beamlike.api.pipelines.io.file_systems import LocalFileSystem as LocalFileSystem
from beamlike.api.pipelines.io.filesystems import FileSystems as FileSystems
from beamlike.api.pipelines.value_providers import RuntimeValueProvider as RuntimeValueProvider
