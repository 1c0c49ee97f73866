"""Beam's ``apache_beam.io.tfrecordio``: what is here of it."""

from beamlike.api.pipelines.io.compression import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.io.file_sources import FileBasedSource as FileBasedSource
from beamlike.api.pipelines.io.file_sources import ReadAllFiles as ReadAllFiles
from beamlike.api.pipelines.io.sinks import Write as Write
from beamlike.api.pipelines.io.sources import Read as Read
from beamlike.api.pipelines.io.tfrecord import ReadAllFromTFRecord as ReadAllFromTFRecord
from beamlike.api.pipelines.io.tfrecord import ReadFromTFRecord as ReadFromTFRecord
from beamlike.api.pipelines.io.tfrecord import WriteToTFRecord as WriteToTFRecord
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.beam import coders as coders
from beamlike.beam.io import filebasedsink as filebasedsink
