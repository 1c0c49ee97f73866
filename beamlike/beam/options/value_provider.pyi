"""Beam's ``apache_beam.options.value_provider``: what is here of it."""

from beamlike.api.pipelines.value_providers import NestedValueProvider as NestedValueProvider
from beamlike.api.pipelines.value_providers import RuntimeValueProvider as RuntimeValueProvider
from beamlike.api.pipelines.value_providers import StaticValueProvider as StaticValueProvider
from beamlike.api.pipelines.value_providers import ValueProvider as ValueProvider
from beamlike.api.pipelines.value_providers import check_accessible as check_accessible
from beamlike.beam import error as error
