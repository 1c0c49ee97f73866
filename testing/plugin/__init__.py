"""A plugin for pytest. A failed assertion about panes can be replayed, and none is left out.

pytest finds it where beamlike is installed; ``-p no:beamlike.testing.plugin`` turns it off.

A failure ends with a command that replays its scenario, and an example that hypothesis found with
a test stream that can be pasted into a test. With ``--beamlike-timeline DIR`` there is a page for
each failed scenario, to step through in a browser.

A test whose assertions about a pipeline never ran fails. Where the plugin is turned off, such a
test gets a `NothingRanWarning`.

What it adds to a failure is in `reports`.

Source: Scio ``PipelineSpec``, which checks that ``run()`` was called.
"""

import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from beamlike.testing.assertions.failures import AssertedGrouping, PaneAssertionError, listening
from beamlike.testing.pipelines.checks import collected_unrun, creation_number, pending_assertions

if TYPE_CHECKING:
    from beamlike.testing.plugin.reports import FailedTest

__all__ = [
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_call",
    "pytest_runtest_teardown",
    "pytest_terminal_summary",
]

_OPTION: Final = "--beamlike-timeline"
_PAGE: Final = "beamlike_timeline"
"""The property of a test with the path of its page. It is in reports for machines, too."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the option for pages."""
    parser.getgroup("beamlike", "beamlike: panes on a time axis").addoption(
        _OPTION,
        metavar="DIR",
        type=Path,
        help="write a page for each failed scenario, to step through in a browser",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder for pages; one that cannot be made is an error of usage."""
    folder = _pages(config)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise pytest.UsageError(
                f"{_OPTION} {folder} cannot be used as a folder ({error.strerror}); name another"
            ) from error


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test, then check that all its assertions were evaluated.

    A pipeline that a fixture made may run when the fixture ends.
    """
    start, gone = creation_number(), len(collected_unrun)
    with listening() as ran:
        try:
            answer = yield
        except BaseException as error:  # it fails already; that may be why something never ran
            _taken(start)
            _annotate(item, error, ran)
            raise
    _fail_of([*collected_unrun[gone:], *_taken(start)])
    return answer


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """End the fixtures of a test, then check that all assertions of theirs were evaluated."""
    gone = len(collected_unrun)
    try:
        answer = yield
    except BaseException as error:
        _annotate(item, error, ())
        raise
    _fail_of([*collected_unrun[gone:], *_taken(-1)])
    return answer


def pytest_terminal_summary(
    terminalreporter: "pytest.TerminalReporter", config: pytest.Config
) -> None:
    """Print where the pages are."""
    folder, start = _pages(config), config.invocation_params.dir
    pages = [
        str(page)
        for outcome in ("failed", "error")
        for report in terminalreporter.stats.get(outcome, ())
        for name, page in getattr(report, "user_properties", ())
        if name == _PAGE
    ]
    pages = list(dict.fromkeys(pages))
    if folder is None or not pages:
        return
    from beamlike.testing.plugin.reports import seen_from

    terminalreporter.section("beamlike timelines")
    for page in pages:
        terminalreporter.write_line(str(seen_from(start, Path(page))))


def _taken(start: int) -> list[str]:
    """Descriptions of what was made since then and waits; it no longer waits."""
    waiting = [id for id, pending in pending_assertions.items() if pending.created_at > start]
    return [pending_assertions.pop(id).text for id in waiting]


def _fail_of(forgotten: list[str]) -> None:
    if forgotten:
        pytest.fail("\n".join(forgotten), pytrace=False)


def _annotate(item: pytest.Item, error: BaseException, ran: Sequence[AssertedGrouping]) -> None:
    """Add to each of the failures that are reported together what can be done with it, and pages.

    If that fails a note says so, but what matters is the failure of the test.
    """
    with _noting_problems(error):
        from beamlike.testing.plugin.reports import UNKNOWN, FailedTest, is_plain, leaves_of

        searched = bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))
        leaves = list(leaves_of(error))
        # The last stream of the test is that of one failure, but not known of which.
        alone = ran if len(leaves) == 1 else ()
        number = 0
        for leaf in leaves:
            groupings = tuple(alone) if is_plain(leaf) else ()
            if drawn := isinstance(leaf, PaneAssertionError):
                groupings = leaf.groupings
            if not groupings:
                if ran and not alone and is_plain(leaf):
                    leaf.add_note(UNKNOWN)
                continue
            number += 1
            with _noting_problems(leaf):  # the others can still be shown
                _add_note(item, leaf, FailedTest(item.nodeid, groupings, drawn, searched, number))


@contextmanager
def _noting_problems(error: BaseException) -> Iterator[None]:
    try:
        yield
    except Exception as problem:
        with suppress(Exception):  # a class of the user's may take no notes
            error.add_note(f"\n(what could be done with it is not shown: {problem!r})")


def _add_note(item: pytest.Item, error: BaseException, failed: "FailedTest") -> None:
    folder, start = _pages(item.config), item.config.invocation_params.dir
    page = None
    if folder is not None:
        page = failed.save_page(folder)
        item.user_properties.append((_PAGE, str(page)))
    error.add_note(failed.note(folder or _temporary(item.config), page, start))


def _pages(config: pytest.Config) -> Path | None:
    """The folder for pages. A test may have gone to another one since, so the path is whole."""
    folder: Path | None = config.getoption(_OPTION)
    return None if folder is None else config.invocation_params.dir / folder


def _temporary(config: pytest.Config) -> Path:
    """A folder that pytest deletes some runs later."""
    factory = getattr(config, "_tmp_path_factory", None)
    if factory is None:  # pytest runs without its plugin for such folders
        return Path(tempfile.mkdtemp(prefix="beamlike-"))
    folder = Path(factory.getbasetemp()) / "beamlike"
    folder.mkdir(exist_ok=True)
    return folder
