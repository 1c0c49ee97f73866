"""Beam's ``apache_beam.io.textio``: what is here of it."""

from beamlike.api.pipelines.io.compression import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.io.file_sources import ReadAllFiles as ReadAllFiles
from beamlike.api.pipelines.io.sinks import Write as Write
from beamlike.api.pipelines.io.sources import Read as Read
from beamlike.api.pipelines.io.tables import ReadFromCsv as ReadFromCsv
from beamlike.api.pipelines.io.tables import ReadFromJson as ReadFromJson
from beamlike.api.pipelines.io.tables import WriteToCsv as WriteToCsv
from beamlike.api.pipelines.io.tables import WriteToJson as WriteToJson
from beamlike.api.pipelines.io.text import ReadAllFromText as ReadAllFromText
from beamlike.api.pipelines.io.text import ReadFromText as ReadFromText
from beamlike.api.pipelines.io.text import ReadFromTextWithFilename as ReadFromTextWithFilename
from beamlike.api.pipelines.io.text import WriteToText as WriteToText
from beamlike.api.pipelines.io.watching import (
    ReadAllFromTextContinuously as ReadAllFromTextContinuously,
)
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.beam import typehints as typehints
from beamlike.beam.coders import coders as coders
from beamlike.beam.io import filebasedsink as filebasedsink
from beamlike.beam.io import filebasedsource as filebasedsource
from beamlike.beam.io import fileio as fileio
from beamlike.beam.io import iobase as iobase
