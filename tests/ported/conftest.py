"""Suites of Beam and Scio, each test once in memory and once on Spark.

A test takes ``sc``, builds its pipeline and says what it expects. It is not run by its own: in
memory that happens when the function has returned; on Spark all tests are built first and played
side by side in one query, because each query of its own would cost seconds. The test of a job says
``.run_within(sc)``, and one whose pipeline has to raise ``expect_error(sc, ...)``; only these have
queries of their own.

Folders beside the tests are applications that several suites are about, and can be imported. What
tests and applications define travels to Spark's workers, which cannot import it.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from beamlike.testing.pipelines.contexts import run_with_context
from tests.support.pipelines.side_by_side import Played, play_on_spark

HERE = Path(__file__).parent

sys.path.insert(0, str(HERE))


def pytest_collection_finish(session: pytest.Session) -> None:
    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        if file is not None and HERE in Path(file).parents:
            cloudpickle.register_pickle_by_value(module)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sc" in metafunc.fixturenames:
        hosts = ["memory", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])]
        metafunc.parametrize("sc", hosts, indirect=True)


@pytest.fixture
def sc(request: pytest.FixtureRequest) -> Mapping[Any, Played] | None:
    """What was played on Spark, None in memory; the test itself gets a context instead."""
    return request.getfixturevalue("played") if request.param == "spark" else None


@pytest.fixture(scope="session")
def played(request: pytest.FixtureRequest, spark: Any) -> Mapping[Any, Played]:
    """All tests of this session that run on Spark, played side by side."""
    on_spark = {
        item.nodeid: _build(item)
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and HERE in item.path.parents
        and "sc" in item.fixturenames
        and item.callspec.params["sc"] == "spark"
    }
    return play_on_spark(on_spark, spark)


def _build(item: pytest.Function) -> Callable[[Any], None]:
    others = {name: value for name, value in item.callspec.params.items() if name != "sc"}
    return lambda context: item.obj(sc=context, **others)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    __tracebackhide__ = True
    if "sc" not in pyfuncitem.fixturenames:
        return None
    on_spark = pyfuncitem.funcargs["sc"]
    if on_spark is None:
        with run_with_context() as context:
            _build(pyfuncitem)(context)
    else:
        on_spark[pyfuncitem.nodeid].check()
    return True
