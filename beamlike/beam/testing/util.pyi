"""Beam's ``apache_beam.testing.util``: what is here of it."""

from beamlike.api.pipelines.cogroups import CoGroupByKey as CoGroupByKey
from beamlike.api.pipelines.elements import Create as Create
from beamlike.api.pipelines.elements import Filter as Filter
from beamlike.api.pipelines.elements import Map as Map
from beamlike.api.pipelines.pardo import ParDo as ParDo
from beamlike.api.pipelines.python.functions import DoFn as DoFn
from beamlike.api.pipelines.python.panes import PANE_INFO_UNKNOWN as PANE_INFO_UNKNOWN
from beamlike.api.pipelines.python.panes import PaneInfo as PaneInfo
from beamlike.api.pipelines.python.windowing import WindowInto as WindowInto
from beamlike.api.pipelines.transform import PTransform as PTransform
from beamlike.api.pipelines.transform import ptransform_fn as ptransform_fn
from beamlike.beam import pvalue as pvalue
from beamlike.beam.transforms import window as window
from beamlike.testing.pipelines.beam import BeamAssertException as BeamAssertException
from beamlike.testing.pipelines.beam import TestWindowedValue as TestWindowedValue
from beamlike.testing.pipelines.beam import assert_that as assert_that
from beamlike.testing.pipelines.beam import contains_in_any_order as contains_in_any_order
from beamlike.testing.pipelines.beam import equal_to as equal_to
from beamlike.testing.pipelines.beam import equal_to_per_window as equal_to_per_window
from beamlike.testing.pipelines.beam import is_empty as is_empty
from beamlike.testing.pipelines.beam import is_not_empty as is_not_empty
