"""Several strategies over one stream."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beamlike.errors import TestStreamError
from beamlike.testing.arguments import names_of, no_argument
from beamlike.testing.stream import FinishedTestStream

if TYPE_CHECKING:
    from beamlike.viz.compare import Comparison

__all__ = ["compare"]


def compare(
    stream: FinishedTestStream, variants: Mapping[str, Mapping[str, Any]], **common: Any
) -> "Comparison":
    """Run a stream under several strategies and put what comes out side by side.

        print(compare(
            stream,
            {"as it is": {}, "an hour more": {"allowed_lateness": "1h"}},
            window=Sessions("10 minutes"),
        ))

    Args:
        stream: What happens.
        variants: Each strategy under a name, as the arguments of `FinishedTestStream.run` that
            are its own. The first one is what the others are measured against.
        common: The arguments that all of them have.

    Raises:
        TestStreamError: There are not two variants, or one has an argument that `run` does not
            take; and whatever `run` raises.
        RecordingError: A run does not happen again, because a function of the user's does not
            always give the same answer.
    """
    from beamlike.viz.compare import compare as side_by_side

    if not isinstance(stream, FinishedTestStream):
        raise TestStreamError(
            f"compare needs a finished stream, got {stream!r}; end it with "
            "advance_watermark_to_infinity()"
        )
    if not isinstance(variants, Mapping) or len(variants) < 2:
        raise TestStreamError(
            "compare needs two strategies or more, each under a name, such as "
            '{"as it is": {}, "an hour more": {"allowed_lateness": "1h"}}; '
            f"got {variants!r}"
        )
    known = names_of(stream.run)
    for variant, own in variants.items():
        for argument in {**common, **own}:
            if argument not in known:
                raise TestStreamError(f"{variant!r}: {no_argument('run', argument, known)}")
    return side_by_side(
        {name: stream.run(**{**common, **own}).recording for name, own in variants.items()}
    )
