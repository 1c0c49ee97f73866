"""What the plugin for pytest adds to a failure: a replay, a page, a test stream to be pasted."""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Final

import attrs

from beamlike.errors import BeamlikeError, TestStreamError
from beamlike.machine.events import Drop, DropReason
from beamlike.machine.failures import OnFailure
from beamlike.runtime.memory import run_in_memory
from beamlike.testing.assertions.failures import (
    AssertedGrouping,
    PaneAssertionError,
    with_assigned_windows,
)
from beamlike.testing.scenarios.files import AGGREGATIONS, RECORDED, differences, load_transcripts
from beamlike.testing.scenarios.writing import beyond_the_format, scenario_text, write_scenario
from beamlike.testing.streams.as_code import as_test_stream

UNKNOWN: Final = (
    "\n(no scenario is shown: several assertions failed together, and a plain assert does not say "
    "which test stream it is about; results.should(...) does)"
)

_LONGEST: Final = 120
_TOO_LATE: Final = frozenset((DropReason.EXPIRED, DropReason.CLOSED))


@attrs.frozen
class FailedTest:
    """What is known of the failure of one test.

    ``drawn``: the failure shows the groupings already. ``by_hypothesis``: it found the example,
    which is then worth a test of its own. ``number``: among the failures of the test, from 1.
    """

    test: str
    groupings: tuple[AssertedGrouping, ...]
    drawn: bool
    by_hypothesis: bool
    number: int = 1

    @property
    def name(self) -> str:
        """The name of its files, without ending."""
        return file_name(self.test) + (f"-{self.number}" if self.number > 1 else "")

    def note(self, folder: Path, page: Path | None, start: Path) -> str:
        """The text at the end of the failure. Transcripts are written for it."""
        parts, commands = list[str](), list[str]()
        for index, asserted in enumerate(self.groupings, 1):
            if not self.drawn:
                parts.append(f"the last test stream that ran here, on a {asserted.timeline}")
            ending = f"-{index}" if len(self.groupings) > 1 else ""
            file = write_transcript(asserted, folder / f"{self.name}{ending}.json", self.test)
            if file is not None:
                path = shlex.quote(str(seen_from(start, file)))
                commands.append(f"beamlike replay {path} --format timeline --explain")
            code = _code_of(asserted) if file is None or self.by_hypothesis else ""
            of = f" of {asserted.label!r}" if asserted.label else ""
            if code:
                parts.append(f"the scenario{of} as a test stream:\n{indent(code, '    ')}")
            if file is None:
                parts.append(f"(no command replays the scenario{of}: {_unsayable(asserted)})")
        if page is not None:
            parts.append(f"page: {seen_from(start, page)}")
        if commands:
            parts.append("\n".join(["to replay it:", *commands]))
        return "".join(f"\n{part}\n" for part in parts).rstrip("\n")

    def save_page(self, folder: Path) -> Path:
        """Write a page, or the text of the timeline if the run does not happen again."""
        from beamlike.viz.page import save_page
        from beamlike.viz.recording import Recording

        try:
            recordings = {
                of.label or self.test: Recording.of(of.run, of.strategy, of.combine)
                for of in self.groupings
            }
        except BeamlikeError as error:
            file = folder / f"{self.name}.txt"
            drawn = "\n\n".join(asserted.timeline for asserted in self.groupings)
            text = f"{self.test}\n\n{drawn}\n\nno page: {error}\n"
            file.write_text(text, encoding="utf-8", errors="backslashreplace")
            return file
        return save_page(recordings, folder / f"{self.name}.html", self.test)


def write_transcript(asserted: AssertedGrouping, file: Path, test: str) -> Path | None:
    """Write a scenario that expects what came out in a test, if one can express it.

    Returns:
        The file; None if a replay of it would not be the same, and then there is no file.
    """
    names = [name for name, combine in AGGREGATIONS.items() if combine == asserted.combine]
    script = with_assigned_windows(asserted.run.script, asserted.strategy)
    if not names or script is None or beyond_the_format(asserted.strategy):
        return None
    run = attrs.evolve(asserted.run, script=script)
    texts = {"title": test, RECORDED: test}
    try:
        document = write_scenario(file.stem, asserted.strategy, names[0], run, **texts)
        json.dumps(document, allow_nan=False)  # infinity is no JSON
        file.write_text(scenario_text(document), encoding="utf-8")
        (scenario,) = load_transcripts(file, must_expect=True)
        if not differences(scenario, run_in_memory(scenario.machine(), scenario.script)):
            return file
    except Exception:  # the user's keys or values may raise anything
        pass
    file.unlink(missing_ok=True)
    return None


def _unsayable(asserted: AssertedGrouping) -> str:
    """Why there is no transcript."""
    beyond = beyond_the_format(asserted.strategy)
    if beyond:
        return f"a scenario file cannot say {', '.join(beyond)}"
    if with_assigned_windows(asserted.run.script, asserted.strategy) is None:
        return "its elements come in windows of their own, and a scenario file assigns them anew"
    if asserted.combine not in AGGREGATIONS.values():
        return f"a scenario file has no aggregation for {asserted.combine}"
    return (
        "a scenario file has keys that are texts or whole numbers, values that are JSON, and "
        "no code; some of this is something else, or is not the same after reading"
    )


def _code_of(asserted: AssertedGrouping) -> str:
    effects = (output.effect for output in asserted.run.outputs)
    reasons = {effect.reason for effect in effects if isinstance(effect, Drop)}
    # What a function raised for is only left out if the test said so.
    on_error = OnFailure.FAIL if reasons <= _TOO_LATE else OnFailure.DROP
    run = asserted.run
    try:
        return as_test_stream(run.script, asserted.strategy, asserted.combine, on_error=on_error)
    except TestStreamError:
        return ""


def leaves_of(error: BaseException) -> Iterator[BaseException]:
    """The error, or those that a group is made of: hypothesis may find several."""
    if isinstance(error, BaseExceptionGroup):
        for exception in error.exceptions:
            yield from leaves_of(exception)
    else:
        yield error


def is_plain(error: BaseException) -> bool:
    """Whether it is an assertion that knows of no panes."""
    return isinstance(error, AssertionError) and not isinstance(error, PaneAssertionError)


def seen_from(start: Path, file: Path) -> Path:
    """The path of a file, from a folder on if it is below that."""
    return file.relative_to(start) if file.is_relative_to(start) else file


def file_name(test: str) -> str:
    """A name for the files of a test. Two tests have two names, in whichever process they run.

    >>> file_name("tests/test_taxis.py::test_late[5 minutes]")
    'tests.test_taxis.test_late-5_minutes-efb8c2a6'
    """
    plain = test.replace(".py::", ".").replace("::", ".").replace("/", ".")
    name = re.sub(r"[^\w.]+", "-", re.sub(r"\s", "_", plain)).strip("-")[:_LONGEST]
    if name == plain:
        return name
    return f"{name}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"
