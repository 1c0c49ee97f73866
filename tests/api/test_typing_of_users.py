"""What a type checker says of code that users write, and the words that options take."""

import enum
import inspect
import json
import re
import subprocess
import sys
import types
import typing
import venv
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import pytest

from beamlike.dialects.akka import OverflowStrategyLike
from beamlike.dialects.kafka_words import EmitStrategyLike
from beamlike.machine.events import ReasonLike
from beamlike.machine.failures import OnFailureLike
from beamlike.machine.input_clocks import IdleLike
from beamlike.model import options
from beamlike.model.panes import TimingLike

ROOT = Path(__file__).resolve().parents[2]

START = """
from typing import Literal, TypedDict, Unpack

from pyspark.sql import DataFrame

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.io import ReadFromText
from beamlike.scio import WindowOptions
from beamlike.testing import TestStream, dropped, pane

HOUR = bl.FixedWindows("1 hour")
PANES: bl.StrategyParts = {"trigger": bl.AfterWatermark(), "accumulation": "retracting"}
LATER: bl.StrategyParts = {**bl.final_only(), "closing_behavior": "fire_always"}

class Own(TypedDict):
    trigger: bl.Trigger
    accumulation: Literal["accumulating"]
    allowed_lateness: str

OWN: Own = {
    "trigger": bl.AfterWatermark(), "accumulation": "accumulating", "allowed_lateness": "1 hour"
}

def preset() -> bl.StrategyParts:
    return {"trigger": bl.AfterWatermark(), "allowed_lateness": "1 hour"}

def hourly(df: DataFrame, **parts: Unpack[bl.StrategyParts]) -> DataFrame:
    by_key = {"n": bl.count()}
    return bl.windowed(df, key="k", timestamp="at", aggregate=by_key, window=HOUR, **parts)

stream = TestStream().advance_watermark_to_infinity()

def use(df: DataFrame) -> None:
"""

RIGHT = (
    "hourly(df, **PANES)",
    "hourly(df, **LATER)",
    "hourly(df, **OWN)",
    "hourly(df, **preset())",
    "hourly(df, **bl.final_only())",
    'hourly(df, **(bl.final_only() | {"closing_behavior": "fire_always"}))',
    "bl.WindowingStrategy(HOUR, **PANES)",
    "bl.WindowingStrategy(HOUR, **OWN)",
    "bl.WindowingStrategy.declared(HOUR, **preset())",
    'bl.stream(df, timestamp="at").window(HOUR, **preset())',
    "stream.run(window=HOUR, **OWN)",
    "bl.WindowingStrategy(HOUR, accumulation=bl.AccumulationMode.RETRACTING)",
    'beam.WindowInto(HOUR, accumulation_mode="discarding", timestamp_combiner="latest")',
    'WindowOptions(accumulation_mode="discarding", closing_behavior="fire_always")',
    'ReadFromText("a.gz", compression_type="gzip")',
    'pane("k", 1, "global", timing="EARLY", is_last=True)',
    'dropped("k", 1, reason="expired")',
    'stream.run(window=HOUR, on_error="drop")',
)

WRONG = (
    'hourly(df, accumulation="acumulating")',
    'hourly(df, late_check="asigned")',
    'hourly(df, unchanged="keep")',
    'hourly(df, timestamp_combiner="end")',
    'hourly(df, closing_behavior="always")',
    'hourly(df, on_time_behavior="never")',
    'hourly(df, allowed_latenes="1 hour")',
    'bl.WindowingStrategy(HOUR, accumulation="acumulating")',
    'beam.WindowInto(HOUR, accumulation_mode="acumulating")',
    'WindowOptions(timestamp_combiner="last")',
    'ReadFromText("a.gz", compression_type="gz")',
    'pane("k", 1, "global", timing="early_on", is_last=True)',
    'dropped("k", 1, reason="too late")',
    'stream.run(window=HOUR, on_error="ignore")',
    'PANES["accumulation"] = "acumulating"',
)


def users_file(folder: Path) -> tuple[Path, list[str]]:
    """A module of a user, and its lines."""
    file = folder / "users.py"
    lines = [*START.splitlines(), *(f"    {line}" for line in (*RIGHT, *WRONG))]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file, lines


@pytest.mark.xdist_group("mypy")
def test_presets_and_words_of_options(mypy: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    file, lines = users_file(tmp_path)
    status, output = mypy(str(file))

    refused = {int(number) for number in re.findall(r"users\.py:(\d+): error", output)}
    assert [lines[number - 1].strip() for number in sorted(refused)] == [*WRONG], output
    assert status == 1


@pytest.mark.nightly
def test_presets_and_words_of_options_in_pyright(tmp_path: Path) -> None:
    """Pyright comes with a Node.js of its own, into an environment of this test."""
    file, lines = users_file(tmp_path)
    venv.create(tmp_path / "environment", with_pip=False)
    python = tmp_path / "environment" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet")
    subprocess.run([*pip, "pyright[nodejs]"], check=True)
    settings = {
        "include": [file.name],
        "extraPaths": [str(ROOT), *(path for path in sys.path if path.endswith("-packages"))],
        "typeCheckingMode": "strict",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")

    command = [str(python), "-m", "pyright", "-p", str(tmp_path), "--outputjson"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(ran.stdout)["generalDiagnostics"]

    errors = [one for one in found if one["severity"] == "error"]
    refused = {error["range"]["start"]["line"] for error in errors}
    assert [lines[number].strip() for number in sorted(refused)] == [*WRONG], errors
    assert ran.returncode == 1


@pytest.mark.parametrize(
    "like",
    [
        *(getattr(options, name) for name in options.__all__ if name.endswith("Like")),
        *(EmitStrategyLike, IdleLike, OnFailureLike, OverflowStrategyLike, ReasonLike, TimingLike),
    ],
    ids=str,
)
def test_words_are_the_values_of_their_choices(like: Any) -> None:
    parts = get_args(like)
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    choices = [part for part in parts if isinstance(part, type)]
    assert words == [member.value for choice in choices for member in choice]


MODULES = (
    *("beamlike", "beamlike.beam", "beamlike.kafka", "beamlike.scio"),
    *("beamlike.tables", "beamlike.testing"),
    *(f"beamlike.dialects.{name}" for name in ("akka", "apex", "flink", "kafka")),
)


def functions_of(module: str) -> Iterator[tuple[str, Any]]:
    """All public functions and methods, by their names."""
    public = import_module(module)
    for name in public.__all__:
        member = getattr(public, name)
        if not inspect.isclass(member):
            yield f"{module}.{name}", member
            continue
        yield f"{module}.{name}", member.__init__
        for method in vars(member):
            if not method.startswith("_"):
                yield f"{module}.{name}.{method}", getattr(member, method)


def takes_any_text_for_a_choice(annotation: Any) -> bool:
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else ()
    has_choice = any(isinstance(part, type) and issubclass(part, enum.Enum) for part in parts)
    return has_choice and str in parts


@pytest.mark.parametrize("module", MODULES)
def test_no_option_that_is_one_of_a_few_words_takes_any_text(module: str) -> None:
    loose = []
    for name, function in functions_of(module):
        try:
            hints = typing.get_type_hints(inspect.unwrap(function))
        except (TypeError, NameError):  # no function, or a name for type checkers alone
            continue
        loose += [
            f"{name}({argument})"
            for argument, annotation in hints.items()
            if takes_any_text_for_a_choice(annotation)
        ]
    assert loose == []
