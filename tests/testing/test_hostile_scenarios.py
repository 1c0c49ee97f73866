"""Scenario files that ask for years, or for all memory: each is refused in a line, within a second.

They are read in a process of its own, with little memory, as files of somebody else would be.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
MEMORY: Final = 700 * 1024 * 1024
"""Bytes of addresses that a reader gets beyond those of Python and beamlike."""

READER: Final = """
import json, os, resource, sys, time
from beamlike.errors import BeamlikeError
from beamlike.testing.scenarios.files import load_transcripts

for line in sys.stdin:
    if os.fork():
        _, status = os.wait()
        print(status, flush=True)
        continue
    with open("/proc/self/statm") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]),) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    began = time.process_time()
    try:
        load_transcripts(line.rstrip())
        refusal = None
    except BeamlikeError as error:
        refusal = str(error)
    print(json.dumps([refusal, time.process_time() - began]), flush=True)
    os._exit(0)
"""
"""For each file a process with little memory that has imported all that it needs before."""

Read = Callable[[Path | str], tuple[str | None, float]]

ONE: Final[Mapping[str, Any]] = {
    "format": "beamlike-transcript-v1",
    "id": "one",
    "windowing": {
        "window": {"fn": "fixed", "size_ms": 10},
        "trigger": {"type": "default"},
        "accumulation": "discarding",
        "allowed_lateness_ms": 0,
        "timestamp_combiner": "end_of_window",
        "closing_behavior": "fire_if_non_empty",
        "on_time_behavior": "fire_always",
    },
    "aggregation": "list",
    "steps": [{"elements": [{"key": "k", "value": 1, "ts_ms": 5}]}],
}


def windowing(**changes: Any) -> str:
    return json.dumps({**ONE, "windowing": {**ONE["windowing"], **changes}})


def one(**changes: Any) -> str:
    return json.dumps({**ONE, **changes})


def with_value(json_text: str) -> str:
    return one().replace('"value": 1', f'"value": {json_text}')


def nested(times: int, begin: str = "[", end: str = "]") -> str:
    return begin * times + end * times


def arrivals(number: int, key: Callable[[int], Any] = str) -> list[dict[str, Any]]:
    return [{"key": key(index), "value": index, "ts_ms": index} for index in range(number)]


def single(number: int, key: Callable[[int], Any]) -> list[dict[str, Any]]:
    """A step for each element."""
    return [{"elements": [arrival]} for arrival in arrivals(number, key)]


def trigger_of_depth(depth: int) -> str:
    trigger = '{"type": "default"}'
    for _ in range(depth):
        trigger = f'{{"type": "repeatedly", "trigger": {trigger}}}'
    return one().replace('{"type": "default"}', trigger)


GLOBAL: Final = {**ONE["windowing"], "window": {"fn": "global"}}
FOREVER: Final = {
    **{"level": "extended", "aggregation": "none"},
    "x_function": {"name": "looping_heartbeat", "every_ms": 1, "time": "event"},
}
DEEP: Final = "is nested too deeply; at most 64 objects and lists in one another"


@attrs.frozen
class Attack:
    """A file, made where it is needed, and the end of the line that refuses it."""

    text: Callable[[], str]
    says: str


ATTACKS: Final[Mapping[str, Attack]] = {
    "a tree of lists": Attack(lambda: nested(400_000), DEEP),
    "a tree of objects": Attack(lambda: nested(400_000, '{"a":', "}").replace(":}", ":1}"), DEEP),
    "a value of 900 lists": Attack(lambda: with_value(nested(900)), DEEP),
    "a value of 90 lists": Attack(lambda: with_value(nested(90)), DEEP),
    "a trigger of 300": Attack(lambda: trigger_of_depth(300), DEEP),
    "a tree that does not end": Attack(lambda: "[" * 3_000_000, "has more than 500,000 values"),
    "an object of many fields": Attack(
        lambda: json.dumps(dict.fromkeys(map(str, range(200_000)), 0)),
        "unknown field '0'; known here: ",
    ),
    "many fields twice": Attack(
        lambda: "{" + ",".join(f'"{index}":0,"{index}":0' for index in range(100_000)) + "}",
        "an object has the field '0' twice",
    ),
    "a million windows an element": Attack(
        lambda: windowing(window={"fn": "sliding", "size_ms": 1_000_000, "period_ms": 1}),
        "steps: has 1,000,000 windows over all elements, and at most 100,000 are read; each "
        "element is in 1,000,000",
    ),
    "more windows than can be counted": Attack(
        lambda: windowing(window={"fn": "sliding", "size_ms": 10**15, "period_ms": 1}),
        "windowing.window: ",
    ),
    "few windows an element, many elements": Attack(
        lambda: json.dumps(
            {
                **json.loads(windowing(window={"fn": "sliding", "size_ms": 1_000, "period_ms": 1})),
                "steps": [{"elements": arrivals(1_000, lambda _: "k")}],
            }
        ),
        "steps: has 1,000,000 windows over all elements, and at most 100,000 are read; each "
        "element is in 1,000",
    ),
    "a calendar before all years": Attack(
        lambda: windowing(
            window={"fn": "calendar_days", "number": 1, "time_zone": "UTC", "start": [0, 1, 1]}
        ),
        "write a date or (year, month, day)",
    ),
    "a start of a calendar with many numbers": Attack(
        lambda: windowing(
            window={
                **{"fn": "calendar_days", "number": 1, "time_zone": "UTC"},
                "start": [0] * 300_000,
            }
        ),
        " ... (cut)",
    ),
    "a time zone of megabytes": Attack(
        lambda: windowing(
            window={"fn": "calendar_days", "number": 1, "time_zone": "x" * 5_000_000}
        ),
        " ... (cut)",
    ),
    "a number of 4,300 digits": Attack(
        lambda: with_value("9" * 4_300), "has 4,300 digits, and at most 100 are read; "
    ),
    "a number of 4,301 digits": Attack(
        lambda: with_value("-" + "9" * 4_300), "has 4,301 digits, and at most 100 are read; "
    ),
    "a number of a million digits": Attack(
        lambda: with_value("9" * 1_000_000), "has 1,000,000 digits, and at most 100 are read; "
    ),
    "a number with many places": Attack(
        lambda: with_value("1." + "0" * 1_000_000), "has 1,000,002 digits, and at most 100"
    ),
    "a number that is infinite": Attack(
        lambda: with_value("1e999"), "1e999 is larger than any number of 64 bits"
    ),
    "a lateness of 100 digits": Attack(
        lambda: windowing(allowed_lateness_ms=10**99), "windowing: "
    ),
    "a time of 100 digits": Attack(
        lambda: one(steps=[{"elements": [{"key": 1, "value": 1, "ts_ms": 10**99}]}]),
        "steps[0].elements[0].ts_ms: must be less than 9223372036854775",
    ),
    "a field of megabytes": Attack(
        lambda: json.dumps({**ONE, "z" * 7_000_000: 1}), "...; known here: "
    ),
    "a field of megabytes of one's own": Attack(
        lambda: json.dumps({**ONE, "title": 1, "x_" + "z" * 7_000_000: 1}),
        "title: must be a string, got 1",
    ),
    "an id of megabytes": Attack(
        lambda: json.dumps({**ONE, "id": "i" * 7_000_000, "level": 1}),
        "...: level: must be a string, got 1",
    ),
    "a hundred thousand scenarios": Attack(
        lambda: json.dumps([[]] * 100_000), "has 100,000 scenarios, and at most 10,000 are read"
    ),
    "ten thousand scenarios that cannot be read": Attack(
        lambda: json.dumps([{"format": 1, "formta": 2}] * 10_000), "... and 190 more"
    ),
    "a million steps": Attack(
        lambda: json.dumps({**ONE, "steps": [{"advance_processing_time_by_ms": 0}] * 200_000}),
        "steps: has 200,000 steps, and at most 20,000 are read",
    ),
    "a hundred thousand elements": Attack(
        lambda: one(steps=[{"elements": [{}] * 240_000}]),
        "steps: has 240,000 elements, and at most 100,000 are read",
    ),
    "a large file": Attack(lambda: one(title="t" * 9_000_000), "has more than 8 MiB; split it"),
    "many keys and many steps": Attack(
        lambda: json.dumps(
            {
                **ONE,
                "steps": [
                    {"elements": arrivals(20_000)},
                    *[{"advance_processing_time_by_ms": 1}] * 19_000,
                ],
            }
        ),
        "steps over all keys, and at most 5,000,000 are read; there are 20,000 keys",
    ),
    "lists that grow with every pane": Attack(
        lambda: json.dumps(
            {
                **json.loads(
                    windowing(
                        window={"fn": "global"},
                        accumulation="accumulating",
                        trigger={
                            "type": "repeatedly",
                            "trigger": {"type": "after_count", "count": 1},
                        },
                    )
                ),
                "steps": single(19_000, lambda _: "k"),
            }
        ),
        "steps: has 180,509,500 elements in lists over all panes, and at most 20,000,000 are read; "
        'write "aggregation": "count", or more elements in a step',
    ),
    "a timer that sets itself for ever": Attack(
        lambda: json.dumps(
            {
                **ONE,
                **FOREVER,
                "windowing": GLOBAL,
                "steps": [*ONE["steps"], {"advance_watermark_to_infinity": True}],
            }
        ),
        "steps: has more than 10^15 firings of the timers of looping_heartbeat, and at most "
        "100,000 are read",
    ),
    "a clock that sets itself for ever": Attack(
        lambda: json.dumps(
            {
                **ONE,
                **FOREVER,
                "x_function": {"name": "looping_heartbeat", "every_ms": 1, "time": "processing"},
                "windowing": GLOBAL,
                "steps": [*ONE["steps"], {"advance_processing_time_by_ms": 10**12}],
            }
        ),
        "steps: has 1,000,000,000,000 firings of the timers of looping_heartbeat, and at most ",
    ),
}


@pytest.fixture(scope="module")
def read() -> Iterator[Read]:
    """How a process refuses a file, and its CPU seconds for that."""
    command = [sys.executable, "-c", READER, str(MEMORY)]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as reader:

        def ask(path: Path | str) -> tuple[str | None, float]:
            print(path, file=reader.stdin, flush=True)
            *answers, status = [reader.stdout.readline()]
            while not status.strip().isdigit():
                answers.append(status)
                status = reader.stdout.readline() or "1"
            assert (len(answers), status.strip()) == (1, "0"), answers
            refusal, seconds = json.loads(answers[0])
            return refusal, seconds

        yield ask
        reader.stdin.close()


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_file_is_refused_in_a_line_within_a_second(name: str, read: Read, tmp_path: Path):
    attack = ATTACKS[name]
    path = tmp_path / "hostile.json"
    path.write_text(attack.text(), encoding="utf-8")

    refusal, seconds = read(path)

    assert refusal is not None
    assert attack.says in refusal
    assert refusal.startswith(str(path))
    lines = refusal.splitlines()
    assert len(lines) <= 11
    assert all(len(line) < 1_000 for line in lines)
    assert seconds < 1


def test_a_file_without_end_is_refused(read: Read) -> None:
    refusal, seconds = read("/dev/zero")
    assert refusal == "/dev/zero: has more than 8 MiB; split it"
    assert seconds < 1


RUN: Final[Mapping[str, tuple[str, str]]] = {
    "a calendar of 10^80 years": (
        windowing(window={"fn": "calendar_years", "number": 10**80, "time_zone": "Europe/Warsaw"}),
        "from year 1 to year 9999, and the window of timestamp 00:00:00.005 (5 ms) does not",
    ),
    "windows of 10^99 ms": (
        one(
            windowing=json.loads(windowing(window={"fn": "fixed", "size_ms": 10**99}))["windowing"],
            steps=[*ONE["steps"], {"advance_watermark_to_infinity": True}],
        ),
        "1 scenario: 1 nothing expected",
    ),
    "an element that is not a command": (
        one(aggregation="none", level="extended", x_function={"name": "by_command"}),
        "failed: by_command() raised TypeError: 'int' object is not subscriptable; ",
    ),
    "a value that no coder of text takes": (
        one(steps=[{"elements": [{"key": "\ud800", "value": "\udfff", "ts_ms": 5}]}]),
        "1 scenario: 1 nothing expected",
    ),
    "a clock of 10^99": (
        one(steps=[*ONE["steps"], {"advance_processing_time_by_ms": 10**99}]),
        "1 scenario: 1 nothing expected",
    ),
}


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize("name", RUN)
def test_what_can_be_read_runs_to_an_end(name: str, host: str, tmp_path: Path) -> None:
    text, says = RUN[name]
    path = tmp_path / "hostile.json"
    path.write_text(text, encoding="utf-8")

    command = [sys.executable, "-m", "beamlike.cli", "replay", str(path), "--host", host]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )

    assert ran.returncode in (0, 1)
    assert says in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr
