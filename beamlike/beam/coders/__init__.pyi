"""Beam's ``apache_beam.coders``: what is here of it."""

from beamlike.api.pipelines.coders import BigIntegerCoder as BigIntegerCoder
from beamlike.api.pipelines.coders import BooleanCoder as BooleanCoder
from beamlike.api.pipelines.coders import BytesCoder as BytesCoder
from beamlike.api.pipelines.coders import Coder as Coder
from beamlike.api.pipelines.coders import CoderRegistry as CoderRegistry
from beamlike.api.pipelines.coders import FloatCoder as FloatCoder
from beamlike.api.pipelines.coders import JsonCoder as JsonCoder
from beamlike.api.pipelines.coders import PickleCoder as PickleCoder
from beamlike.api.pipelines.coders import StrUtf8Coder as StrUtf8Coder
from beamlike.api.pipelines.coders import VarIntCoder as VarIntCoder
from beamlike.api.pipelines.coders import registry as registry
from beamlike.beam.coders import coders as coders
from beamlike.beam.coders import typecoders as typecoders
