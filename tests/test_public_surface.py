"""What is public: listed, documented, typed, and shown without noise."""

import inspect
import json
import pydoc
import re
import subprocess
import sys
import warnings
from datetime import timedelta
from enum import Enum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import beamlike as bl
import beamlike.dialects.akka
import beamlike.dialects.apex
import beamlike.dialects.flink
import beamlike.dialects.kafka
import beamlike.playground
from beamlike.api.spark_names import INSTEAD
from beamlike.errors import DurationWarning
from beamlike.testing import QueryTest
from tests.support.refusals import refusal

ROOT = Path(__file__).resolve().parents[1]
MODULES: dict[str, ModuleType] = {
    **{"beamlike": bl, "beamlike.combine_fns": bl.combine_fns, "beamlike.errors": bl.errors},
    **{"beamlike.testing": bl.testing, "beamlike.beam": bl.beam, "beamlike.scio": bl.scio},
    **{f"beamlike.dialects.{name}": getattr(bl.dialects, name) for name in ("kafka", "flink")},
    **{f"beamlike.dialects.{name}": getattr(bl.dialects, name) for name in ("apex", "akka")},
    **{"beamlike.kafka": bl.kafka, "beamlike.tables": bl.tables},
    **{"beamlike.playground": bl.playground},
}


def test_the_package_lists_its_public_modules() -> None:
    listed = set(re.findall(r"^``(beamlike[\w.]*)``", bl.__doc__ or "", re.MULTILINE))
    dialects = {name for name in MODULES if name.startswith("beamlike.dialects.")}
    assert listed == MODULES.keys() - dialects | {"beamlike.dialects"}
    assert all(f"``{name.rpartition('.')[2]}``" in (bl.__doc__ or "") for name in dialects)


def public(kind: type | tuple[type, ...]) -> dict[str, Any]:
    """Every public function or class by its names."""
    return {
        f"{module}.{name}": thing
        for module, here in MODULES.items()
        for name in here.__all__
        if isinstance(thing := getattr(here, name), kind)
        and thing.__module__.startswith("beamlike.")
    }


def test_a_public_function_is_documented_and_typed() -> None:
    functions = public(FunctionType)
    assert [
        name for name, function in functions.items() if not (function.__doc__ or "").strip()
    ] == []
    untyped = {
        name: {*inspect.signature(inspect.unwrap(function)).parameters, "return"}
        - function.__annotations__.keys()
        for name, function in functions.items()
    }
    assert {name: arguments for name, arguments in untyped.items() if arguments} == {}


def test_a_public_class_is_documented() -> None:
    classes = public(type).items()
    assert [name for name, it in classes if not (vars(it).get("__doc__") or "").strip()] == []
    assert [name for name, it in classes if it.__doc__.startswith(f"{it.__name__}(")] == []


EXPLAINED_ELSEWHERE = {"StrategyParts", "Stamped", "PaneAssertionError"}
"""Values that others hand out, and the parts of a strategy, which stand under `windowed`."""


@pytest.mark.parametrize("module", [bl, bl.combine_fns])
def test_what_people_call_has_an_example(module: ModuleType) -> None:
    things = {name: getattr(module, name) for name in module.__all__}
    without = [
        name
        for name, thing in things.items()
        if isinstance(thing, type | FunctionType)
        and not (isinstance(thing, type) and issubclass(thing, Enum | Exception))
        and not re.search(r">>> |::\n\n {4}", thing.__doc__ or "")
    ]
    assert sorted(set(without) - EXPLAINED_ELSEWHERE) == []


# -- what dir and help show ------------------------------------------------------------------------


def test_dir_has_what_people_need_and_no_more() -> None:
    script = "import json, beamlike; print(json.dumps(dir(beamlike)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    names = json.loads(done.stdout)
    assert names == sorted([*bl.__all__, "beam", "dialects", "kafka", "scio", "tables", "testing"])
    assert {"local_session", "errors", "combine_fns", "windowed"} <= set(names)
    assert all(hasattr(bl, name) for name in names)


def help_of(thing: Any) -> str:
    return pydoc.render_doc(thing, renderer=pydoc.plaintext)


CLASSES = [
    thing
    for module in (bl, bl.combine_fns)
    for thing in (getattr(module, name) for name in module.__all__)
    if isinstance(thing, type) and not issubclass(thing, Enum | dict | Exception)
]


def test_help_of_a_class_shows_nothing_that_was_generated() -> None:
    generated = re.compile(r"^ \|  (?:__\w+__).*$|by attrs|built-in functions", re.MULTILINE)
    shown = {fromkey: generated.findall(help_of(fromkey)) for fromkey in dict.fromkeys(CLASSES)}
    assert {kind: found for kind, found in shown.items() if found} == {}


def test_help_of_sessions_fits_a_screen_or_two() -> None:
    shown = help_of(bl.Sessions).partition("Methods defined here:")[2]
    methods = re.findall(r"^ \|  (\w+)\(", shown, re.MULTILINE)
    assert methods == [
        *("assign", "compatible_with", "is_end", "merge", "merge_sized", "size_of"),
        "in_resolution",
    ]


@pytest.mark.parametrize(
    ("function", "sections"),
    [
        (bl.windowed, ["What to group", "Windows", "Triggers and panes", "Results", "Operation"]),
        (bl.Stream.window, ["Windows", "Triggers and panes, as of `beamlike.windowed`"]),
    ],
)
def test_arguments_are_grouped_and_each_is_explained_once(function: Any, sections: list[str]):
    doc = inspect.getdoc(function) or ""
    titles = re.findall(r"^(\S.*):$", doc, re.MULTILINE)
    assert [title for title in titles if title in sections] == sections
    explained = re.findall(r"^    (\w+): ", doc.partition("Raises:")[0], re.MULTILINE)
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    assert sorted(explained) == sorted(parameters)
    assert "**" not in help_of(function).splitlines()[2]


# -- names of PySpark ------------------------------------------------------------------------------


def test_a_name_of_pyspark_says_what_to_write() -> None:
    assert refusal(AttributeError, lambda: bl.avg) == ('beamlike has no avg; write bl.mean("x")')
    with pytest.raises(AttributeError, match=r"^beamlike has no nonsense$"):
        bl.nonsense  # type: ignore[attr-defined]  # noqa: B018
    assert INSTEAD.keys().isdisjoint(dir(bl))


@pytest.mark.parametrize("name", INSTEAD)
def test_what_is_to_be_written_instead_is_there(name: str) -> None:
    with pytest.raises(AttributeError) as asked:
        getattr(bl, name)
    advice = str(asked.value).partition("; ")[2]
    meant = re.findall(r"\bbl\.(\w+)", advice)
    assert [it for it in meant if it not in bl.__all__] == []
    if beam := re.findall(r"\bbeam\.(\w+)$", advice):
        assert hasattr(bl.beam, beam[0])
    if imported := re.search(r"from (\S+) import (\w+)", advice):
        assert imported[2] in MODULES[imported[1]].__all__


# -- numbers that count milliseconds ---------------------------------------------------------------


def warned_of(**how: Any) -> list[str]:
    """What is said of a query of a DataFrame when it is made."""
    asked: dict[str, Any] = {
        "key": "user",
        "timestamp": "at",
        "watermark": "1 minute",
        "window": bl.FixedWindows("1 hour"),
        "aggregate": {"n": bl.count()},
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        QueryTest(lambda df: bl.windowed(df, **(asked | how)), "user string, at timestamp").close()
    assert {warning.category for warning in caught} <= {DurationWarning}
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


def test_a_number_that_may_be_meant_in_seconds_is_warned_of() -> None:
    assert warned_of(window=bl.Sessions(30)) == [
        'windowed: Sessions gap=30 is 30 milliseconds; write "30 seconds" or "30 minutes" if that '
        'is meant, and "30 ms" if not'
    ]
    assert warned_of(watermark=90, window=bl.SlidingWindows(3_600, 60)) == [
        'windowed: watermark=90 is 90 milliseconds; write "90 seconds" or "90 minutes" if that '
        'is meant, and "90 ms" if not',
        'windowed: SlidingWindows size=3600 is 3600 milliseconds; write "3600 seconds" or "3600 '
        'minutes" if that is meant, and "3600 ms" if not',
        'windowed: SlidingWindows period=60 is 60 milliseconds; write "60 seconds" or "60 '
        'minutes" if that is meant, and "60 ms" if not',
    ]


@pytest.mark.parametrize(
    "window",
    [
        bl.Sessions("30 ms"),
        bl.Sessions(timedelta(milliseconds=30)),
        bl.Sessions(30_000, max_duration=60_000),
        bl.FixedWindows(60_000),
        bl.SlidingWindows("90 ms", "30 ms"),
    ],
)
def test_whole_seconds_and_durations_with_a_unit_are_meant(window: Any) -> None:
    assert warned_of(window=window, watermark=5_000) == []


def test_a_stream_warns_where_it_is_given_such_numbers() -> None:
    def sessions(df: Any) -> bl.Stream:
        rows = bl.stream(df, timestamp="at", watermark=10)
        return rows.window(bl.Sessions(30)).group("user", {"n": bl.count()})

    with pytest.warns(DurationWarning) as caught:
        QueryTest(sessions, "user string, at timestamp").close()
    assert [str(warning.message).partition(" is ")[0] for warning in caught] == [
        "stream: watermark=10",
        "Stream.window: Sessions gap=30",
    ]


@pytest.mark.parametrize(
    ("trigger", "names"),
    [
        (bl.AfterProcessingTime(30), "AfterProcessingTime delay=30"),
        (bl.AfterProcessingTime(delay=30), "AfterProcessingTime delay=30"),
        (bl.AfterProcessingTime(bl.Delay(30)), "AfterProcessingTime delay=30"),
        (bl.AfterProcessingTime("1 s", bl.AlignTo(60)), "AfterProcessingTime period=60"),
        (bl.AfterSilence(30), "AfterSilence silence=30"),
        (bl.EveryEventTime(30), "EveryEventTime interval=30"),
        (bl.EveryProcessingTime(30), "EveryProcessingTime interval=30"),
    ],
)
def test_a_number_in_a_trigger_is_warned_of(trigger: bl.Trigger, names: str) -> None:
    parts: dict[str, Any] = {
        "trigger": bl.AfterWatermark(early=trigger, late=bl.AfterCount(1)),
        "accumulation": "discarding",
        "allowed_lateness": "1 hour",
    }
    strategy = bl.WindowingStrategy(bl.FixedWindows("1 hour"), **parts)

    for warned in (warned_of(**parts), warned_of(window=None, strategy=strategy)):
        assert [it.partition(" is ")[0] for it in warned] == [f"windowed: {names}"]


def test_a_number_in_a_strategy_is_warned_of() -> None:
    strategy = bl.WindowingStrategy(bl.Sessions(30), allowed_lateness=90)

    warned = warned_of(window=None, strategy=strategy, wake_every=5)

    assert [it.partition(" is ")[0] for it in warned] == [
        "windowed: wake_every=5",
        "windowed: allowed_lateness=90",
        "windowed: Sessions gap=30",
    ]


def test_triggers_with_a_unit_are_meant() -> None:
    trigger = bl.Repeatedly(bl.AfterProcessingTime("30 ms", bl.AlignTo("90 ms")))
    how = {"trigger": trigger, "accumulation": "discarding", "allowed_lateness": "90 ms"}

    assert warned_of(**how) == []


def test_windows_that_differ_in_how_they_were_written_are_equal() -> None:
    assert bl.Sessions(30) == bl.Sessions("30 ms")
    assert hash(bl.FixedWindows(30)) == hash(bl.FixedWindows("30 ms"))
    assert repr(bl.FixedWindows(30)) == repr(bl.FixedWindows("30 ms"))
