"""An engine's results, scenario by scenario: as expected, different, failed, not supported."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from .comparing import canonical, differences, row_differences
from .scenarios import DialectCase, Scenario, questions_of
from .schema import FormatError, check, load_schema

__all__ = ["VERDICTS", "Verdict", "judge", "judge_case", "read_results", "summary"]

AS_EXPECTED, DIFFERS, FAILED = "as expected", "differs", "failed"
UNSUPPORTED, NO_RESULT = "not supported", "no result"

VERDICTS: Final = (AS_EXPECTED, DIFFERS, FAILED, UNSUPPORTED, NO_RESULT)

Answer = Mapping[str, Any]


@attrs.frozen
class Verdict:
    """How an engine did on a scenario or a case.

    Attributes:
        scenario: Which.
        word: One of `VERDICTS`.
        details: What differs, the error, or why the scenario is not supported.
        notes: What the engine says besides.
    """

    scenario: Scenario | DialectCase
    word: str
    details: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the engine does not conform because of it.

        A contested scenario does not count, and levels beyond the core may be left out.
        """
        if self.word == AS_EXPECTED:
            return False
        if isinstance(self.scenario, DialectCase):
            return self.word != UNSUPPORTED
        if self.scenario.contested:
            return False
        return self.word in (DIFFERS, FAILED) or self.scenario.level == "core"


def read_results(document: Any, name: str) -> dict[str, Answer]:
    """An engine's answers by the ids of scenarios.

    Raises:
        FormatError: The document does not follow the format, or answers a scenario twice.
    """
    check(document, load_schema("results"), name)
    answers: dict[str, Answer] = {}
    for answer in document["scenarios"]:
        if answer["id"] in answers:
            raise FormatError(f"{name}: the results of {answer['id']!r} are there twice")
        if not answer.keys() & {"panes", "rows", "answers", "unsupported", "error"}:
            raise FormatError(
                f"{name}: the results of {answer['id']!r} lack 'panes'; give them, or "
                "'unsupported' or 'error' with the reason"
            )
        answers[answer["id"]] = answer
    return answers


def judge(scenario: Scenario, answer: Answer | None) -> Verdict:
    """How an engine did on a scenario; None: it did not answer."""
    early = _judged(scenario, answer)
    if early or answer is None:
        return early or Verdict(scenario, NO_RESULT)
    problems = differences(
        scenario, answer["panes"], answer.get("dropped"), answer.get("drop_counts")
    )
    return _compared(scenario, problems, answer)


def judge_case(case: DialectCase, answer: Answer | None) -> Verdict:
    """How a system did on a case of its own; None: it did not answer."""
    early = _judged(case, answer)
    if early or answer is None:
        return early or Verdict(case, NO_RESULT)
    if case.kind != "stream":
        return _compared(case, _wrong_answers(questions_of(case), answer["answers"]), answer)
    problems = row_differences(case.rows, answer["rows"], case.any_order)
    expected = case.document.get("expect_state", answer.get("state"))
    if "state" in answer and sorted(map(str, answer["state"])) != sorted(map(str, expected)):
        problems.append(f"state {answer['state']}; expected: {expected}")
    return _compared(case, problems, answer)


def _wrong_answers(expected: Sequence[Any], answers: Sequence[Any]) -> list[str]:
    wrong = [
        f"question {number}: {json.dumps(came)} (expected {json.dumps(wanted)})"
        for number, (wanted, came) in enumerate(zip(expected, answers, strict=False))
        if canonical(wanted) != canonical(came)
    ]
    if len(expected) != len(answers):
        wrong.append(f"{len(answers)} answers (expected {len(expected)})")
    return wrong


def _judged(scenario: Scenario | DialectCase, answer: Answer | None) -> Verdict | None:
    if answer is None:
        return Verdict(scenario, NO_RESULT)
    for field, word in (("unsupported", UNSUPPORTED), ("error", FAILED)):
        if field in answer:
            return Verdict(scenario, word, (answer[field],), tuple(answer.get("notes", ())))
    return None


def _compared(scenario: Scenario | DialectCase, problems: Sequence[str], answer: Answer) -> Verdict:
    word = DIFFERS if problems else AS_EXPECTED
    return Verdict(scenario, word, tuple(problems), tuple(answer.get("notes", ())))


def summary(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A table of levels and authorities, and below it what is contested."""
    counted = [verdict for verdict in verdicts if not _is_contested(verdict)]
    groups = dict.fromkeys(map(_group, counted))
    rows: list[tuple[str, ...]] = [("level", "authority", "cases", *VERDICTS)]
    for group in sorted(groups, key=lambda group: (group[0] != "core", *group)):
        rows.append(
            (*group, *_counts([verdict for verdict in counted if _group(verdict) == group]))
        )
    rows.append(("all", "", *_counts(counted)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        texts = [cell.ljust(width) for cell, width in zip(row[:2], widths, strict=False)]
        texts += [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join(texts).rstrip()
    contested = [verdict for verdict in verdicts if _is_contested(verdict)]
    if contested:
        yield f"\n{len(contested)} contested, not counted:"
    for word in VERDICTS:
        ids = [verdict.scenario.id for verdict in contested if verdict.word == word]
        if ids:
            yield f"  {word}: {', '.join(ids)}"


def _is_contested(verdict: Verdict) -> bool:
    return isinstance(verdict.scenario, Scenario) and verdict.scenario.contested


def _group(verdict: Verdict) -> tuple[str, str]:
    scenario = verdict.scenario
    if isinstance(scenario, DialectCase):
        return scenario.dialect, scenario.provenance
    return scenario.level, scenario.authority or "-"


def _counts(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    words = Counter(verdict.word for verdict in verdicts)
    return (str(len(verdicts)), *(str(words[word] or "-") for word in VERDICTS))
