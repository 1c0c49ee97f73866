"""Rows that a query's author rejects."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from beamlike.api.dataframe.inputs import RETRACTION, Inputs
from beamlike.errors import WindowingError
from beamlike.machine.events import DropReason
from beamlike.runtime.pane_conditions import marks_of_all

if TYPE_CHECKING:
    from pyspark.sql import Column

Reject = Mapping[str, "Column | str"]
"""Conditions by the reason for which rows are dropped that meet them."""

_TAKEN: Final = frozenset(
    (
        *(reason.value for reason in DropReason),
        *("null_key", "bad_key", "null_timestamp", "bad_timestamp", "far_future", "bad_value"),
    )
)
_LONGEST: Final = 200


def without_rejected(inputs: Inputs, reject: Reject | None) -> Inputs:
    """The inputs, of whose rows those that are rejected are marked with the reason.

    Raises:
        WindowingError: ``reject`` is not a mapping of reasons to conditions.
        ColumnError: A condition cannot be used.
    """
    if reject is None:
        return inputs
    if not isinstance(reject, Mapping) or not reject:
        raise WindowingError(
            'reject must map reasons to conditions, such as reject={"negative": "price < 0"}, got '
            f"{reject!r}"
        )
    for reason in reject:
        if not isinstance(reason, str) or not reason.strip() or len(reason) > _LONGEST:
            raise WindowingError(
                f"reject: a reason must be a text of 1 to {_LONGEST} characters, got {reason!r}"
            )
        if reason in _TAKEN:
            raise WindowingError(
                f"reject: {reason!r} is a reason that rows are dropped for anyway; give yours "
                "another name"
            )
    marked = inputs.each(lambda rows: inputs.frames.rejecting(rows, reject))
    # A condition that names it may part a pane from the row that withdraws it.
    named = {mark for condition in reject.values() for mark in marks_of_all(condition)}
    return marked.after("reject", frozenset({RETRACTION} & named))
