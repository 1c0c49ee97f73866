"""Beam's ``apache_beam.coders.row_coder``: what is here of it."""

from beamlike.api.pipelines.coders import BytesCoder as BytesCoder
from beamlike.api.pipelines.coders import Coder as Coder
from beamlike.api.pipelines.coders import StrUtf8Coder as StrUtf8Coder
from beamlike.api.pipelines.more_coders import BigEndianShortCoder as BigEndianShortCoder
from beamlike.api.pipelines.more_coders import BooleanCoder as BooleanCoder
from beamlike.api.pipelines.more_coders import ByteCoder as ByteCoder
from beamlike.api.pipelines.more_coders import DecimalCoder as DecimalCoder
from beamlike.api.pipelines.more_coders import FloatCoder as FloatCoder
from beamlike.api.pipelines.more_coders import IterableCoder as IterableCoder
from beamlike.api.pipelines.more_coders import MapCoder as MapCoder
from beamlike.api.pipelines.more_coders import NullableCoder as NullableCoder
from beamlike.api.pipelines.more_coders import (
    SinglePrecisionFloatCoder as SinglePrecisionFloatCoder,
)
from beamlike.api.pipelines.more_coders import VarInt32Coder as VarInt32Coder
from beamlike.api.pipelines.more_coders import VarIntCoder as VarIntCoder
from beamlike.api.pipelines.python.window_fns import TimestampCoder as TimestampCoder
from beamlike.api.pipelines.row_coder import RowCoder as RowCoder
from beamlike.beam.coders import typecoders as typecoders
