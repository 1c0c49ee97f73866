"""Transforms, by Beam Python's modules of them.

`core` and `util` hold most, `ptransform` says what one is; `window` and `trigger` say when results
come, `combiners` how, and `userstate` what a DoFn cannot keep here.
"""

from beamlike.beam.transforms import combiners, trigger, userstate, window
from beamlike.beam.transforms.core import *  # noqa: F403
from beamlike.beam.transforms.core import __all__ as _core
from beamlike.beam.transforms.ptransform import PTransform, ptransform_fn
from beamlike.beam.transforms.util import *  # noqa: F403
from beamlike.beam.transforms.util import __all__ as _util

__all__ = ["PTransform", "combiners", "ptransform_fn", "trigger", "userstate", "window"]
__all__ += _core
__all__ += _util
