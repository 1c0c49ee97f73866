"""Beam's ``apache_beam.io``: what is here of it."""

from beamlike.api.pipelines.text_files import ReadAllFromText as ReadAllFromText
from beamlike.api.pipelines.text_files import ReadFromText as ReadFromText
from beamlike.api.pipelines.text_files import ReadFromTextWithFilename as ReadFromTextWithFilename
from beamlike.api.pipelines.text_files import WriteToText as WriteToText
from beamlike.beam.io import filesystem as filesystem
from beamlike.beam.io import kafka as kafka
from beamlike.beam.io import textio as textio
