"""Combine functions, for test streams, pipelines and `beamlike.combine`.

    from beamlike.combine_fns import Mean
    from beamlike.testing import TestStream

    TestStream().add_elements(("a", 1), ("a", 2)).advance_watermark_to_infinity().run(
        window=FixedWindows("1 minute"), aggregate=Mean()
    )

Over columns of a DataFrame the same are functions of `beamlike`: ``bl.mean("delay")``. One of your
own is a class below `CombineFn`, which `beamlike.testing.check_combine_fn` holds against its laws.
What each gives for an empty pane, `beamlike.model.combine` says.
"""

from beamlike.model import combine
from beamlike.model.combine import *  # noqa: F403  # the public names are those of the model

__all__: list[str] = []
__all__ += combine.__all__
