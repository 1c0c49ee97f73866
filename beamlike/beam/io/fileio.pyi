"""Beam's ``apache_beam.io.fileio``: what is here of it."""

from beamlike.api.pipelines.io.compression import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.io.errors import BeamIOError as BeamIOError
from beamlike.api.pipelines.io.file_names import FileNaming as FileNaming
from beamlike.api.pipelines.io.file_names import default_file_naming as default_file_naming
from beamlike.api.pipelines.io.file_names import (
    destination_prefix_naming as destination_prefix_naming,
)
from beamlike.api.pipelines.io.file_names import prefix_naming as prefix_naming
from beamlike.api.pipelines.io.file_names import single_file_naming as single_file_naming
from beamlike.api.pipelines.io.file_writing import FileResult as FileResult
from beamlike.api.pipelines.io.file_writing import FileSink as FileSink
from beamlike.api.pipelines.io.file_writing import SinkMetadata as _FileMetadata
from beamlike.api.pipelines.io.file_writing import TextSink as TextSink
from beamlike.api.pipelines.io.file_writing import WriteToFiles as WriteToFiles
from beamlike.api.pipelines.io.fileio import EmptyMatchTreatment as EmptyMatchTreatment
from beamlike.api.pipelines.io.fileio import MatchAll as MatchAll
from beamlike.api.pipelines.io.fileio import MatchFiles as MatchFiles
from beamlike.api.pipelines.io.fileio import ReadableFile as ReadableFile
from beamlike.api.pipelines.io.fileio import ReadMatches as ReadMatches
from beamlike.api.pipelines.io.sequences import PeriodicImpulse as PeriodicImpulse
from beamlike.api.pipelines.io.watching import MatchContinuously as MatchContinuously
from beamlike.api.pipelines.more_coders import VarIntCoder as VarIntCoder
from beamlike.api.pipelines.option_classes import GoogleCloudOptions as GoogleCloudOptions
from beamlike.api.pipelines.python.durations import Duration as Duration
from beamlike.api.pipelines.python.timestamps import MAX_TIMESTAMP as MAX_TIMESTAMP
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.python.window_fns import FixedWindows as FixedWindows
from beamlike.api.pipelines.python.windows import BoundedWindow as BoundedWindow
from beamlike.api.pipelines.python.windows import GlobalWindow as GlobalWindow
from beamlike.api.pipelines.python.windows import IntervalWindow as IntervalWindow
from beamlike.api.pipelines.python.windows import TimestampedValue as TimestampedValue
from beamlike.api.pipelines.value_providers import StaticValueProvider as StaticValueProvider
from beamlike.api.pipelines.value_providers import ValueProvider as ValueProvider
from beamlike.beam.io import filesystem as filesystem
from beamlike.beam.io import filesystems as filesystems

FileMetadata = _FileMetadata
