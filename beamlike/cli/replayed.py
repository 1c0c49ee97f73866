"""What came of replaying a scenario: its verdict, and hints for its author."""

from collections.abc import Iterator

import attrs

from beamlike.cli.scenarios import Outcome
from beamlike.errors import UnsupportedError
from beamlike.machine.events import AdvanceWatermark
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.script import Run
from beamlike.testing.scenarios.files import Scenario, differences
from beamlike.viz.sentences import wrapped


@attrs.frozen
class Replay:
    """A scenario, what came of it, and how that differs from what was expected."""

    scenario: Scenario
    outcome: Outcome
    differences: tuple[str, ...]

    @classmethod
    def of(cls, scenario: Scenario, outcome: Outcome) -> "Replay":
        found = differences(scenario, outcome) if isinstance(outcome, Run) else []
        return cls(scenario, outcome, tuple(found))

    @property
    def failed(self) -> bool:
        """Whether it counts against the exit status."""
        if isinstance(self.outcome, UnsupportedError):
            # Levels beyond the core may be skipped, as long as it shows.
            return self.scenario.level == "core"
        if isinstance(self.outcome, Exception):
            return True
        return bool(self.differences) and not self.scenario.contested

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if isinstance(self.outcome, UnsupportedError):
            return "not supported"
        if isinstance(self.outcome, Exception):
            return "failed"
        if self.differences:
            return "contested, differs" if self.scenario.contested else "differs"
        if self.scenario.expected is None:
            return "nothing expected"
        return "as recorded" if self.scenario.recorded_from else "as expected"

    @property
    def verdict_line(self) -> str:
        """The verdict of a run that came to its end. What follows a colon are differences."""
        test = self.scenario.recorded_from
        if self.differences:
            return f"{self.verdict}{f' from what the failed test {test} recorded' * bool(test)}:"
        if self.verdict != "as recorded":
            return self.verdict
        wanted = "what the test expected is in its failure text"
        return f"as recorded from the failed test {test}; {wanted}"

    def hints(self, *, explained: bool) -> Iterator[str]:
        """What may surprise the author of the scenario."""
        script, outcome = self.scenario.script, self.outcome
        ends = [
            index for index, step in enumerate(script) if step == AdvanceWatermark(MAX_TIMESTAMP)
        ]
        if isinstance(outcome, Run) and not outcome.outputs:
            reason = "" if explained else "--explain says why"
            if not ends:
                reason = "windows that are open at the end stay open: the steps do not end with "
                reason += '{"advance_watermark_to_infinity": true}'
                reason += "" if explained else "; --explain says what each window waits for"
            if reason:
                yield f"(nothing came out; {reason})"
        if ends and ends[0] + 1 < len(script):
            yield (
                f"(step {ends[0]} is the end of time, and no element can be in time after it; in a "
                "TestStream it is the last step)"
            )


def lines_of(text: str) -> str:
    """A line of any length on as many lines as it needs."""
    return "\n".join(wrapped(text, "", "  "))
