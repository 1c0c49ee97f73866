"""Beam's ``apache_beam.coders.coders``: what is here of it."""

from beamlike.api.pipelines.coders import BigIntegerCoder as BigIntegerCoder
from beamlike.api.pipelines.coders import BooleanCoder as BooleanCoder
from beamlike.api.pipelines.coders import BytesCoder as BytesCoder
from beamlike.api.pipelines.coders import Coder as Coder
from beamlike.api.pipelines.coders import FloatCoder as FloatCoder
from beamlike.api.pipelines.coders import PickleCoder as PickleCoder
from beamlike.api.pipelines.coders import StrUtf8Coder as StrUtf8Coder
from beamlike.api.pipelines.coders import VarIntCoder as VarIntCoder
from beamlike.beam.typehints import typehints as typehints
from beamlike.beam.utils import windowed_value as windowed_value
