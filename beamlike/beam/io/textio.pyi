"""Beam's ``apache_beam.io.textio``: what is here of it."""

from beamlike.api.pipelines.text_files import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.text_files import ReadAllFromText as ReadAllFromText
from beamlike.api.pipelines.text_files import ReadFromText as ReadFromText
from beamlike.api.pipelines.text_files import ReadFromTextWithFilename as ReadFromTextWithFilename
from beamlike.api.pipelines.text_files import WriteToText as WriteToText
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.beam import typehints as typehints
from beamlike.beam.coders import coders as coders
