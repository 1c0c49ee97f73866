"""Beam's ``apache_beam.io.avroio``: what is here of it."""

from beamlike.api.pipelines.io.avro import ReadAllFromAvro as ReadAllFromAvro
from beamlike.api.pipelines.io.avro import ReadFromAvro as ReadFromAvro
from beamlike.api.pipelines.io.avro import WriteToAvro as WriteToAvro
from beamlike.api.pipelines.io.compression import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.io.filesystems import FileSystems as FileSystems
from beamlike.api.pipelines.io.sources import Read as Read
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.beam.io import filebasedsink as filebasedsink
from beamlike.beam.io import filebasedsource as filebasedsource
from beamlike.beam.io import iobase as iobase
