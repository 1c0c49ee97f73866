"""What the table of Beam's tests counts, and how it groups causes."""

from pathlib import Path
from typing import Any

import pytest

from tests.beam_suite.__main__ import entries, forget, keep
from tests.beam_suite.names import names_of, written
from tests.beam_suite.table import compared, grouped_cause, text_of
from tests.beam_suite.units import left_out

UNITS = [
    {"unit": "apache_beam.pvalue_test", "kind": "tests"},
    {"unit": "map.py", "kind": "programs"},
    {"unit": "clock.py", "kind": "programs"},
]


def entry(test: str, outcome: str = "passed", **more: Any) -> dict[str, Any]:
    return {"test": test, "outcome": outcome, **more}


def test_counted_is_what_beam_itself_passes_and_users_need():
    real = {
        "apache_beam.pvalue_test": [
            *(entry("A.test_one"), entry("A.test_two"), entry("A.test_runner_api")),
            entry("A.test_service", "failed"),
        ],
        "map.py": [entry("", printed=["1"], stable=True)],
        "clock.py": [entry("", printed=["12:00"], stable=False)],
    }
    ours = {
        "apache_beam.pvalue_test": [
            entry("A.test_one"),
            entry("A.test_two", "failed", cause="TypeError: 'x' is 3"),
        ],
        "map.py": [entry("", printed=["2"])],
        "clock.py": [entry("", printed=["13:00"])],
    }

    found = compared(UNITS, real, ours)

    assert [(it.counted, it.failed, it.left_out) for it in found] == [
        (
            ["A.test_one", "A.test_two"],
            {"A.test_two": "TypeError: 'x' is 3"},
            {"A.test_runner_api"},
        ),
        ([""], {"": "it printed something else"}, set()),
        ([""], {}, set()),
    ]
    assert text_of(found, "2.77.0", by_runner=compared(UNITS, real, real)).splitlines()[6:] == [
        "* unit tests, `BeamlikeRunner`: 2 of 2 pass (100.0 %)",
        "* unit tests, the pocket edition: 1 of 2 pass (50.0 %)",
        "* programs, `BeamlikeRunner`: 2 of 2 pass (100.0 %)",
        "* programs, the pocket edition: 1 of 2 pass (50.0 %)",
        "",
        "| file | runner | pocket | of | internal |",
        "|---|---|---|---|---|",
        "| pvalue_test | 2 | 1 | 2 | 1 |",
        "| map.py | 1 | 0 | 1 |  |",
        "| clock.py | 1 | 1 | 1 |  |",
        "",
        "",
        "## First causes of failure, of the pocket edition",
        "",
        "| blocked | cause | such as |",
        "|---|---|---|",
        "| 1 | `TypeError: '...' is N` | pvalue_test A.test_two |",
        "| 1 | `it printed something else` | map.py |",
        "",
        "## Internals, left out",
        "",
        "Beam's messages to its runners: `A.test_runner_api`.",
    ]


def test_what_does_not_pass_with_the_runner_has_its_reason():
    unit = {"unit": "apache_beam.transforms.trigger_test", "kind": "tests"}
    tests = "TriggerPipelineTest.test_after_count", "TriggerPipelineTest.test_always"
    real = {unit["unit"]: [entry(test) for test in tests]}
    ours = {unit["unit"]: [entry(test, "failed", cause="KeyError: 'a|b'") for test in tests]}
    by_runner = compared([unit], real, ours)
    page = text_of(compared([unit], real, real), "2.77.0", by_runner=by_runner)
    rows = page.partition("## What does not pass with `BeamlikeRunner`")[2].splitlines()[4:6]
    assert rows == [
        "| transforms.trigger_test TriggerPipelineTest.test_after_count "
        "| The last pane of a window comes out as it expires, as in Beam Java. |",
        "| transforms.trigger_test TriggerPipelineTest.test_always | `KeyError: 'a/b'` |",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("KeyError: 'a'", "KeyError: 'b'"),
        ("TypeError: got [1, 2] at 0x7f", "TypeError: got [] at 0x80"),
        ("ValueError: <Map at 3> is 1.5", "ValueError: <ParDo> is 22"),
    ],
)
def test_causes_that_differ_in_values_alone_are_one(one: str, other: str):
    assert grouped_cause(one) == grouped_cause(other)


def test_a_file_that_ends_at_an_import_fails_with_all_of_its_tests():
    real = {"apache_beam.pvalue_test": [entry("A.test_one"), entry("A.test_two")]}
    ours = {"apache_beam.pvalue_test": [entry("*", "failed", cause="ImportError: no")]}
    (found,) = compared(UNITS[:1], real, ours)
    assert found.failed == {"A.test_one": "ImportError: no", "A.test_two": "ImportError: no"}


def test_only_files_that_ended_are_kept_and_may_be_forgotten(tmp_path: Path):
    output = tmp_path / "out.jsonl"
    keep(
        output,
        [
            {"unit": "a", "test": "one", "outcome": "passed"},
            {"unit": "a", "test": None, "outcome": "ended"},
            {"unit": "b", "test": "one", "outcome": "passed"},
        ],
    )
    assert entries(output) == {"a": [{"unit": "a", "test": "one", "outcome": "passed"}]}
    forget(output, [{"unit": "a"}])
    assert entries(output) == {}


def test_names_are_those_of_the_module_that_defines_them(tmp_path: Path):
    for name, text in {
        "__init__.py": "from apache_beam.core import *\nfrom apache_beam import io\n",
        "core.py": "from apache_beam.io import Read as R\nclass DoFn: ...\ndef _own(): ...\n",
        "io/__init__.py": "__all__ = ['Read']\ntry:\n  class Read: ...\nexcept E:\n  Read = X = 1",
        "io/io_test.py": "class Test: ...\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert written(names_of(tmp_path), "9.9").splitlines() == [
        "# The names of apache-beam 9.9, by python -m tests.beam_suite --names.",
        ".",
        " <@ io",
        " <core DoFn",
        " <io R=Read",
        "core",
        " DoFn _own",
        " <io R=Read",
        "io",
        " Read X",
    ]


def test_what_users_need_is_not_left_out():
    assert left_out("apache_beam.pipeline_test.RunnerApiTest.test_simple") != ""
    assert (
        left_out("apache_beam.transforms.util_test.BatchElementsTest.test_grows_to_max_batch") == ""
    )


def test_files_that_did_not_run_to_their_end_are_named():
    table = text_of([], "9.9", host="spark", left=["apache_beam.pvalue_test"])

    assert "Not run to the end: `pvalue_test`." in table.splitlines()
