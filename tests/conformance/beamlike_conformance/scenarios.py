"""Scenarios of Beam's model, and cases of other systems, read from their files."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from .schema import FormatError, check, load_schema, read_json

__all__ = [
    "CASES",
    "DIALECTS",
    "DialectCase",
    "Scenario",
    "load_cases",
    "load_scenarios",
    "questions_of",
]

_HERE: Final = Path(__file__).parent


def _folder(name: str) -> Path:
    """A folder of scenarios: in the package where it is installed, beside it in the checkout."""
    inside = _HERE / name
    return inside if inside.is_dir() else _HERE.parent / name


CASES: Final = _folder("cases")
"""The folder with the scenarios of Beam's model."""
DIALECTS: Final = _folder("dialects")
"""The folder with the cases of other systems."""


@attrs.frozen
class Scenario:
    """What happens to one grouping, step by step, and all that must come of it.

    Attributes:
        id: Unique among all scenarios.
        source: The test, text or rule that the scenario was taken from.
        authority: Who vouches for the outcome, such as ``java-test`` or ``derived``.
        level: ``core``, or a level that an engine may leave out.
        contested: Whether it turns on a point where engines differ; it is not counted then.
        document: The whole scenario as in its file.
    """

    id: str
    source: str
    authority: str
    level: str
    contested: bool
    document: Mapping[str, Any] = attrs.field(repr=False)

    @property
    def windowing(self) -> Mapping[str, Any]:
        """Window, trigger, accumulation, lateness, timestamp combiner and behaviors."""
        windowing: Mapping[str, Any] = self.document["windowing"]
        return windowing

    @property
    def aggregation(self) -> str:
        """How the value of a pane is computed."""
        return str(self.document["aggregation"])

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        """What happens, in order."""
        steps: Sequence[Mapping[str, Any]] = self.document["steps"]
        return steps

    @property
    def panes(self) -> Sequence[Mapping[str, Any]]:
        """Every pane that must come out."""
        panes: Sequence[Mapping[str, Any]] = self.document["panes"]
        return panes

    @property
    def dropped(self) -> Sequence[Mapping[str, Any]]:
        """Every element that must be dropped, once for each of its windows."""
        dropped: Sequence[Mapping[str, Any]] = self.document["dropped"]
        return dropped


@attrs.frozen
class DialectCase:
    """What one system that is not Beam gives out for one input.

    Attributes:
        dialect: The system: ``kafka``, ``flink``, ``apex`` or ``akka``.
        kind: ``stream``, or a question of another kind.
        provenance: How the outcome is known: ``test``, ``text``, ``doc``, ``derived`` or ``run``.
        document: The whole case as in its file.
    """

    id: str
    dialect: str
    kind: str
    provenance: str
    source: str
    document: Mapping[str, Any] = attrs.field(repr=False)

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        """What happens, in order."""
        steps: Sequence[Mapping[str, Any]] = self.document["steps"]
        return steps

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Every row that must come out of a stream."""
        rows: Sequence[Mapping[str, Any]] = self.document["expect"]
        return rows

    @property
    def any_order(self) -> bool:
        """Whether rows of one step may come in any order."""
        return bool(self.document.get("order") == "per_step_any")


def load_scenarios(paths: Iterable[str | Path] = (CASES,)) -> list[Scenario]:
    """The scenarios of files and folders; by default all that this package has.

    Raises:
        FormatError: A file cannot be read or does not follow the format, or an id is there twice.
    """
    scenarios = []
    for file, document in _documents(paths, "transcript"):
        scenario = Scenario(
            document["id"],
            document["source"],
            document.get("authority", ""),
            document.get("level", "core"),
            document.get("contested", False),
            document,
        )
        _check_steps(scenario, file)
        scenarios.append(scenario)
    return scenarios


def load_cases(paths: Iterable[str | Path] = (DIALECTS,)) -> list[DialectCase]:
    """The cases of other systems in files and folders; by default all that this package has.

    Raises:
        FormatError: A file cannot be read or does not follow the format, or an id is there twice.
    """
    return [
        DialectCase(*(document[name] for name in _CASE_FIELDS), document)
        for _, document in _documents(paths, "dialect_case")
    ]


def questions_of(case: DialectCase) -> list[Any]:
    """The answers that a case which is not a stream expects, one for each of its questions.

    A ``store`` is asked after puts and removals; ``validation`` asks whether settings are accepted,
    ``merge_windows`` and ``window_set`` which windows merge, ``assign`` for windows of timestamps.
    """
    document = case.document
    match case.kind:
        case "store":
            return [step["expect"] for step in document["steps"] if "expect" in step]
        case "validation":
            return [settings["ok"] for settings in document["cases"]]
        case "merge_windows":
            return list(document["expect_merges"])
        case "window_set":
            added = [step for step in document["steps"] if "add" in step]
            return [{"result": step["result"], "merged": step.get("merged", [])} for step in added]
        case "assign":
            return [settings["windows"] for settings in document["cases"]]
        case _:
            return [document.get("output")]


_CASE_FIELDS: Final = ("id", "dialect", "kind", "provenance", "source")


def _documents(paths: Iterable[str | Path], schema: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    seen: dict[str, str] = {}
    for path in map(Path, paths):
        for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
            for document in _file(file):
                name = document.get("id") if isinstance(document, dict) else None
                check(document, load_schema(schema), f"{file}: {name or 'a scenario'}")
                if name in seen:
                    raise FormatError(f"{file}: the id {name!r} is in {seen[name]}, too")
                seen[str(name)] = str(file)
                yield str(file), document
    if not seen:
        raise FormatError(f"there are no scenarios in {', '.join(map(str, paths))}")


def _file(file: Path) -> list[Any]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FormatError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{file}: is not UTF-8 text: {error.reason}") from None
    content = read_json(text, str(file))
    if isinstance(content, dict) and "scenarios" in content:
        content = content["scenarios"]
    return content if isinstance(content, list) else [content]


def _check_steps(scenario: Scenario, file: str) -> None:
    for entry in (*scenario.panes, *scenario.dropped):
        if entry["step"] >= len(scenario.steps):
            raise FormatError(
                f"{file}: {scenario.id}: has steps 0 to {len(scenario.steps) - 1}, and expects "
                f"at step {entry['step']} {json.dumps(entry)}"
            )
