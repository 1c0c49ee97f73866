"""Beam's ``apache_beam.typehints.trivial_inference``: what is here of it."""

from typing import Any as Any

from beamlike.api.pipelines.hints.forms import type_of as _instance_to_type
from beamlike.beam import pvalue as pvalue
from beamlike.beam.typehints import typehints as typehints

instance_to_type = _instance_to_type
