"""A plugin for pytest: a test whose assertions about a pipeline never ran fails.

Name it in the ``conftest.py`` at the top of the tests:
``pytest_plugins = ["beamlike.testing.plugin"]``. Without it such a test gets a
`NothingRanWarning`.

Source: Scio ``PipelineSpec``, which asks whether ``run()`` was forgotten.
"""

from collections.abc import Generator

import pytest

from beamlike.testing.checks import lost, unfinished

__all__ = ["pytest_runtest_call"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test, then see whether all that it asserted was asked."""
    known, gone = set(unfinished), len(lost)
    answer = yield
    waiting = [unfinished.pop(identity) for identity in unfinished.keys() - known]
    forgotten = [*lost[gone:], *waiting]
    if forgotten:
        pytest.fail("\n".join(forgotten), pytrace=False)
    return answer
