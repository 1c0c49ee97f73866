"""A query whose driver dies at one point of a micro-batch: before its sink, within, and after."""

import contextlib
from pathlib import Path
from typing import Final

import attrs

from tests.crash.child import USUAL
from tests.crash.needed import AtHand
from tests.crash.processes import Child, ChildFailed
from tests.crash.unsteady import dying_at
from tests.crash.work import KEEPS_ITS_LOG

BEGUN: Final = r"rename after .*/checkpoint/offsets/{batch}"
"""Spark has noted that the micro-batch has begun; nothing has come to the sink."""

ENDED: Final = r"rename before .*/checkpoint/commits/{batch}"
"""The sink has all; Spark has not noted that the micro-batch has ended."""


def run_until(
    operation: str | None, home: Path, feed: Path, work: str, at_hand: AtHand | None = None
) -> None:
    """Run a work, or go on, until Java is gone at an operation on a file, or to the end.

    Args:
        operation: A regular expression, see `dying_at`; None: to the end.
        home: The folder of the run.
        feed: What arrives.
        work: The query.
        at_hand: What it needs.
    """
    home.mkdir(parents=True, exist_ok=True)
    hand = at_hand or AtHand()
    dies = {} if operation is None else dying_at(home, operation)
    around = attrs.evolve(USUAL, cores=1, settings={**USUAL.settings, **KEEPS_ITS_LOG, **dies})
    with Child.start(
        *(home, feed, [work], "--surroundings", around.text()),
        python=hand.python,
        environment=hand.environment,
    ) as child:
        if operation is None:
            child.finish()
            return
        with contextlib.suppress(ChildFailed):
            child.finish()
        if (home / "done").exists():
            raise child.failed(f"it never came to {operation!r}")
