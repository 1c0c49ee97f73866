"""The scenarios on the engines themselves: ``python -m tests.judges [engine ...]``.

Each engine is installed into a cache, its adapter is built, and it plays the scenarios that it can
express, and random ones. What differs is printed, unless it was decided what it is. An engine that
cannot run on this machine is named with the reason.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.judges.engines import ENGINES
from tests.judges.judging import Outcome, judge_engine
from tests.judges.page import keep, write_page
from tests.support.commands import command_parser
from tests.support.environments import NotHere, cache_folder

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "pages" / "engines.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0: no engine differs in a way about which nothing was decided."""
    parser = command_parser("tests.judges", __doc__)
    parser.add_argument("engines", nargs="*", metavar="engine", help=f"of {', '.join(ENGINES)}")
    parser.add_argument("--random", type=int, default=1000, help="random scenarios for each (1000)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--cache", help="where engines are installed (in the user's cache)")
    parser.add_argument("--keep", action="store_true", help="keep results, and write the page")
    options = parser.parse_args(arguments)
    for name in options.engines:
        if name not in ENGINES:
            parser.error(f"there is no engine {name!r}; give some of {', '.join(ENGINES)}")
    cache = cache_folder(options.cache)
    failed = False
    for name in options.engines or ENGINES:
        try:
            outcome = judge_engine(ENGINES[name], cache, count=options.random, seed=options.seed)
        except NotHere as reason:
            print(f"{name}: left out, {reason}", flush=True)
            continue
        _print(outcome)
        failed |= outcome.fails
        if options.keep:
            keep(outcome, HERE / "LATEST.json")
            write_page(HERE / "LATEST.json", PAGE)
    return int(failed)


def _print(outcome: Outcome) -> None:
    print(f"{outcome.engine.title} {outcome.version}")
    for what, all_judged in (("scenarios", outcome.corpus), ("random", outcome.random)):
        if not all_judged:
            continue
        agree = sum(judged.agrees for judged in all_judged)
        decided = sum(bool(judged.decisions) for judged in all_judged)
        open_ones = sum(judged.is_open for judged in all_judged)
        cannot = len(all_judged) - agree - decided - open_ones
        print(
            f"  {what}: {len(all_judged)}, {agree} agree, {decided} differ as decided, "
            f"{cannot} cannot be expressed, {open_ones} differ"
        )
    answered = sum(not isinstance(rows, str) for rows in outcome.questions.values())
    print(f"  questions: {len(outcome.questions)}, {answered} answered")
    words = Counter(rule.word for rule in outcome.rules)
    if outcome.rules:
        print(
            f"  rules: {len(outcome.rules)}, {words['agrees']} agree, {words['differs']} differ, "
            f"{words['cannot']} cannot be asked"
        )
    for rule in outcome.rules:
        if rule.word == "differs":
            print(f"  differs: the rule {rule.id}: {rule.detail}")
    for reason, times in outcome.unsupported().most_common():
        print(f"  cannot express {times}: {reason}")
    for decision, named, drawn in outcome.decided():
        print(f"  {decision.verdict}: {decision.name} ({len(named)} scenarios, {drawn} random)")
    for judged in outcome.open[:20]:
        print(f"  differs: {judged.verdict.scenario.id}")
        print(*(f"    {detail}" for detail in judged.verdict.details[:8]), sep="\n")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
