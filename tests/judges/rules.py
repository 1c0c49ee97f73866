"""Rules that are not a stream of one grouping: checks at construction, continuations, functions.

They are the files of ``tests/conformance/other``, put to Beam's two SDKs.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import attrs

from tests.conformance.beamlike_conformance.comparing import canonical

_OTHER: Final = Path(__file__).parents[1] / "conformance" / "other"

Rule = Mapping[str, Any]


@attrs.frozen
class RuleJudged:
    """What an engine says of a rule."""

    id: str
    word: Literal["agrees", "differs", "cannot"]
    detail: str = ""


def load_rules() -> list[dict[str, Any]]:
    """All of them; one without an id has that of its file, with its number."""
    return [
        {"id": f"{file.stem}_{number}", **rule}
        for file in sorted(_OTHER.glob("*.json"))
        for number, rule in enumerate(json.loads(file.read_text(encoding="utf-8")))
    ]


def judge_rule(rule: Rule, answer: Mapping[str, Any]) -> RuleJudged:
    """Whether an engine says of a rule what it states."""
    if "unsupported" in answer:
        return RuleJudged(rule["id"], "cannot", answer["unsupported"])
    if "answers" not in answer:
        return RuleJudged(rule["id"], "differs", str(answer.get("error")))
    (said,) = answer["answers"]
    if _holds(rule, said):
        return RuleJudged(rule["id"], "agrees")
    return RuleJudged(rule["id"], "differs", str(said))


def _holds(rule: Rule, said: Any) -> bool:
    if "expect" not in rule:
        stated = rule["continuation"] if "continuation" in rule else rule["result"]
        return canonical(said) == canonical(stated)
    if rule["expect"] == "ok":
        return bool(said == "ok")
    is_refused = str(said).startswith("error: ")
    return is_refused and rule.get("error_contains", "") in str(said)
