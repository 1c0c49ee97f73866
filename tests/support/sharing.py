"""How several processes of pytest-xdist share the tests.

Each of them imports all tests, and each takes a group of tests after the other.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest

_TESTS = Path(__file__).resolve().parents[1]
_HALF_ON_SPARK = ("api", "matrix", "zones")
"""Folders whose tests take as long on Spark as those of all others."""


def is_shared(config: pytest.Config) -> bool:
    """Whether this process is one of several."""
    return hasattr(config, "workerinput")


def share_well(config: pytest.Config) -> None:
    """Groups are taken in the order of their tests; and modules are not compiled several times.

    Were all processes to import the tests in one order, they would compile each at the same time.
    So each begins at another place. `longest_first` puts the tests in one order.
    """
    config.option.loadscopereorder = False  # by size alone, else
    if not is_shared(config) or config.args_source != pytest.Config.ArgsSource.TESTPATHS:
        return
    modules = sorted(path.relative_to(_TESTS).parts[0] for path in _TESTS.rglob("test_*.py"))
    worker, count = (config.workerinput[name] for name in ("workerid", "workercount"))
    first = modules[len(modules) * int(worker.removeprefix("gw")) // count]
    parts = sorted(set(modules), key=lambda part: (part < first, part))
    config.args[:] = [str(_TESTS / part) for part in parts]


def put_in_groups(items: Sequence[pytest.Item]) -> None:
    """Tests of a module stay together; and all that need a Spark session, in two halves.

    A test that says itself what it goes with stays with that.
    """
    for item in items:
        if not _group(item):
            group = _module(item)
            if item.get_closest_marker("spark"):
                group = "frames" if item.path.parent.name in _HALF_ON_SPARK else "spark"
            item.add_marker(pytest.mark.xdist_group(group))


def longest_first(items: Sequence[pytest.Item]) -> Callable[[pytest.Item], Any]:
    """What to sort these by, so that no process is left with much when the others have nothing."""
    lengths = dict[str, tuple[bool, ...]]()
    for item in items:
        lengths[_group(item)] = max(lengths.get(_group(item), ()), _length(item))
    sizes = Counter(map(_group, items))

    def key(item: pytest.Item) -> Any:
        group = _group(item)
        return [not it for it in lengths[group]], -sizes[group], item.path

    return key


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return "" if mark is None else str(mark.args[0])


def _module(item: pytest.Item) -> str:
    return f"{item.path.parent.name}/{item.path.stem}"


def _length(item: pytest.Item) -> tuple[bool, ...]:
    """What makes a test long, the longest first."""
    return (
        _group(item) == "own sessions",
        item.get_closest_marker("spark") is not None,
        _group(item) != _module(item),
        item.get_closest_marker("browser") is not None,
        isinstance(item, pytest.Function) and hypothesis.is_hypothesis_test(item.obj),
    )
