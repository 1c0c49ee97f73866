"""When Python looks for garbage that counting references does not find."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_gc() -> Iterator[None]:
    """No garbage collection meanwhile: a step makes many objects and few cycles.

    Looking for cycles all the same takes a sixth of a step's time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_young() -> None:
    """Free cycles among the newest objects: functions of users may make some of each element."""
    gc.collect(1)
