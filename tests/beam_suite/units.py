"""Which tests and programs of Beam are run."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

TESTS: Final = (
    "pipeline_test",
    "pvalue_test",
    "testing.test_stream_test",
    "testing.util_test",
    "transforms.combiners_test",
    "transforms.create_test",
    "transforms.ptransform_test",
    "transforms.sideinputs_test",
    "transforms.trigger_test",
    "transforms.userstate_test",
    "transforms.util_test",
    "transforms.window_test",
)
"""Unit tests of what users use."""

_EXAMPLES: Final = ("examples/**/*_test.py", "programming_guide_test.py")
_NEED_MORE: Final = re.compile(
    # Services, models and the work of other packages.
    r"_it_test$|examples\.(inference|ml_transform|sinks|dataframe|kafkataxi|flink)\b"
)

LEFT_OUT: Final[Mapping[str, str]] = {
    r"\.RunnerApi\w*\.|_runner_api|roundtrip_proto|_environments_|transform_ids|parent_pointer": (
        "Beam's messages to its runners"
    ),
    r"display_data|DisplayDataTest|test_(filter|flatmap|map)_(anonymous|named)_function": (
        "what Beam shows on pages of runners"
    ),
    r"ptransform_override|auto_unique_labels": "how runners replace and name transforms",
    r"resource_hint|_hints_on_composite|same_transform_set_different_hints": (
        "what a worker should have"
    ),
    r"_annotations$|_annotations\.": "notes of a transform for runners",
    r"test_create_source_": "the source that is inside of Create",
    r"ignore_first_n_batch|ignore_next_timing|target_(duration|overhead)|test_variance": (
        "how Beam measures the sizes of batches"
    ),
    r"numpy_regression|global_batching_dofn": "how Beam measures the sizes of batches",
    r"(global|windowed)_dofn_|default_element_size": "private classes of SortAndBatchElements",
    r"\.TriggerTest\.|TriggerDriverTranscriptTest": "the driver of triggers inside Beam's runner",
    r"ReverseTestStreamTest": "how the interactive runner records a stream",
    r"windowed_value_holder|windowed_values_interpreted|_with_service": (
        "test streams as messages between processes"
    ),
    r"InterfaceTest\.test_(bad|good)_signatures|test_validate_dofn|_proto_conversion": (
        "the signatures of functions inside Beam's runner"
    ),
    r"compaction_race|uses_coder_for_pickling|submission_and_runtime_envs": (
        "how Beam's workers pickle and keep state"
    ),
    r"length_bucket_(assignment|key_setup)|default_window_mapping_fn": (
        "functions inside of BatchElements and of side inputs"
    ),
    r"gbek_|synthetic|_with_sdf": "services and sources of Beam's own tests",
}
"""Tests that are of no use to users, by a pattern of their names: why."""


def left_out(name: str) -> str:
    """Why a test does not count; empty if it does."""
    return next((why for pattern, why in LEFT_OUT.items() if re.search(pattern, name)), "")


def tests(beam: Path) -> Iterator[dict[str, Any]]:
    """Modules of tests: those of Beam's parts, then those of its examples."""
    for name in TESTS:
        yield {"unit": f"apache_beam.{name}", "kind": "tests", "limit": 30, "whole": 600}
    for pattern in _EXAMPLES:
        for path in sorted(beam.glob(pattern)):
            name = ".".join(("apache_beam", *path.relative_to(beam).with_suffix("").parts))
            if not _NEED_MORE.search(name):
                yield {"unit": name, "kind": "programs", "limit": 60, "whole": 600}


def programs(beam: Path, sources: Path | None) -> Iterator[dict[str, Any]]:
    """Files that are programs: what they print is compared."""
    for path in sorted((beam / "examples" / "snippets" / "transforms").rglob("*.py")):
        if not path.stem.endswith("_test") and "__main__" in path.read_text(encoding="utf-8"):
            yield _program(path, beam)
    for path in sorted(sources.rglob("*.py")) if sources else ():
        text = path.read_text(encoding="utf-8")
        if "apache_beam" in text and not path.stem.startswith("test"):
            yield _program(path, sources or path)


def _program(path: Path, within: Path) -> dict[str, Any]:
    name = path.relative_to(within).as_posix()
    return {"unit": name, "kind": "programs", "file": str(path), "limit": 60, "whole": 90}
