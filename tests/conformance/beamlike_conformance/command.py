"""Compare an engine's results with the scenarios, list these, or copy them into a folder."""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .rules import rules_of
from .scenarios import CASES, DIALECTS, load_cases, load_scenarios
from .schema import SCHEMAS, FormatError, read_json
from .verdicts import judge, judge_case, read_results, summary

__all__ = ["main"]

_EPILOG: Final = """\
exit status of compare:
  0   every scenario that counts came out as expected; levels other than core
      may be unsupported
  1   something came out otherwise, failed, or is missing from the core
  2   a file cannot be read or does not follow the format
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        arguments: By default those of the process.
    """
    parser = argparse.ArgumentParser(
        prog="beamlike-conformance",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    compare = commands.add_parser("compare", help="compare an engine's results with what must come")
    compare.add_argument("results", help="the engine's document; - reads stdin")
    compare.add_argument(
        "cases", nargs="*", type=Path, help="files or folders of scenarios (default: all)"
    )
    compare.add_argument(
        "--dialect", help="compare with the cases of this system, in place of Beam's model"
    )
    listing = commands.add_parser("list", help="the scenarios, with source and rules")
    listing.add_argument("cases", nargs="*", type=Path, help="files or folders (default: all)")
    copy = commands.add_parser("copy", help="copy scenarios, cases and schemas into a folder")
    copy.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    try:
        if options.command == "copy":
            return _copy(options.folder)
        if options.command == "list":
            return _list(options.cases)
        return _compare(options.results, options.cases, options.dialect)
    except FormatError as error:
        print(f"beamlike-conformance: {error}", file=sys.stderr)
        return 2


def _compare(results: str, cases: Sequence[Path], dialect: str | None) -> int:
    try:
        text = sys.stdin.read() if results == "-" else Path(results).read_text("utf-8-sig")
    except OSError as error:
        raise FormatError(f"{results}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{results}: is not UTF-8 text: {error.reason}") from None
    answers = read_results(read_json(text, results), results)
    if dialect:
        chosen = [case for case in load_cases(cases or [DIALECTS]) if case.dialect == dialect]
        known = {case.id for case in chosen}
        verdicts = [judge_case(case, answers.get(case.id)) for case in chosen]
    else:
        scenarios = load_scenarios(cases or [CASES])
        known = {scenario.id for scenario in scenarios}
        verdicts = [judge(scenario, answers.get(scenario.id)) for scenario in scenarios]
    for name in answers.keys() - known:
        raise FormatError(f"{results}: no scenario has the id {name!r}")
    for verdict in verdicts:
        if verdict.details and verdict.fails:
            print(f"== {verdict.scenario.id}: {verdict.word}")
            print(*(f"  {detail}" for detail in verdict.details), sep="\n", end="\n\n")
    print(*summary(verdicts), sep="\n")
    silent = sum(
        "panes" in answer and not answer.keys() & {"dropped", "drop_counts"}
        for answer in answers.values()
    )
    if silent:
        print(f"{silent} of the results say nothing of drops; of these only panes were compared")
    return int(any(verdict.fails for verdict in verdicts))


def _list(cases: Sequence[Path]) -> int:
    for scenario in load_scenarios(cases or [CASES]):
        rules = ", ".join(f"{rule.number} {rule.feature}" for rule in rules_of(scenario))
        print(
            json.dumps(
                {
                    "id": scenario.id,
                    "level": scenario.level,
                    "contested": scenario.contested,
                    "source": scenario.source,
                    "rules": rules,
                },
                ensure_ascii=False,
            )
        )
    return 0


def _copy(folder: Path) -> int:
    for source, name in ((CASES, "cases"), (DIALECTS, "dialects"), (SCHEMAS, "schemas")):
        target = folder / name
        for file in sorted(source.rglob("*.json")):
            copied = target / file.relative_to(source)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copied)
    print(f"scenarios, cases and schemas are in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
