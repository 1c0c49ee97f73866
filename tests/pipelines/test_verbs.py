"""The table of Scio's verbs names what there is, and all of it."""

import inspect
import re
from pathlib import Path
from typing import Any

import attrs
import pytest

import beamlike
import beamlike.scio
import beamlike.testing
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.scio.collection import INSTEAD, TABLES
from beamlike.api.pipelines.scio.table import transforms, verbs
from beamlike.scio import (
    ScioContext,
    ScioMetrics,
    ScioResult,
    SCollection,
    SCollectionWithSideInput,
    SCollectionWithSideOutput,
    SideInput,
    WindowedSCollection,
)
from beamlike.testing import Expectation, JobTest, TestStream
from beamlike.testing.assertions import matchers, values
from beamlike.testing.pipelines import contexts as pipelines

TABLE = Path(__file__).resolve().parents[2] / "docs" / "pages" / "scio_verbs.md"
NONE = "—"
OF_BEAM = {"ScioResult.metrics", "ScioResult.wait_until_finish"}

# What Scio has for windows and for tests; its other verbs are in the table too.
SCIO = """
    withWindowFn withFixedWindows withSlidingWindows withSessionWindows withGlobalWindow
    windowByYears windowByMonths windowByDays windowByWeeks WindowOptions trigger accumulationMode
    allowedLateness closingBehavior timestampCombiner onTimeBehavior timestampBy withPaneInfo
    withTimestamp withWindow withTimestampedValues latest latestByKey toWindowed toSCollection

    map flatMap filter keyBy collect mapValues values keys swap partition withSideOutputs
    groupByKey groupBy groupMap reduceByKey sumByKey minByKey maxByKey combineByKey aggregateByKey
    foldByKey countByKey countByValue topByKey approxQuantilesByKey meanByKey sampleByKey distinct
    distinctBy distinctByKey sum reduce min max combine mean count aggregate fold top
    quantilesApprox cogroup join leftOuterJoin rightOuterJoin fullOuterJoin groupWith
    MultiJoin.apply MultiJoin.left MultiJoin.outer MultiJoin.cogroup intersectByKey subtractByKey
    intersection subtract hashJoin hashLeftOuterJoin hashFullOuterJoin hashIntersectByKey
    hashSubtractByKey hashLookup cross hashFilter sparseJoin sparseLeftOuterJoin
    sparseRightOuterJoin sparseFullOuterJoin sparseIntersectByKey sparseLookup batch batchByteSized
    batchWeighted batchByKey batchByteSizedByKey batchWeightedByKey withFanout withHotKeyFanout
    asSingletonSideInput asListSideInput asIterableSideInput asSetSingletonSideInput
    asMapSideInput asMultiMapSideInput asMapSingletonSideInput asMultiMapSingletonSideInput
    withSideInputs SideInput.map debug tap union unionAll flatten flatMapValues filterValues sample
    randomSplit countApproxDistinct countApproxDistinctByKey applyPerKeyDoFn

    testStreamOf addElements advanceWatermarkTo advanceProcessingTime advanceWatermarkToInfinity
    testStream parallelize parallelizeTimestamped runWithContext runWithData runWithLocalOutput
    runWithOverrides TransformOverride.of TransformOverride.ofKV TransformOverride.ofIter
    TransformOverride.ofSource JobTest args input inputStream output distCache counter distribution
    gauge transformOverride run PipelineSpec

    should shouldNot Eq containInAnyOrder containSingleValue containValue beEmpty haveSize
    equalMapOf satisfy satisfySingleValue forAll exist shouldApproximate inWindow inOnTimePane
    inEarlyPane inLatePane inCombinedNonLatePanes inFinalPane inOnlyPane inEarlyGlobalWindowPanes
"""

COUNTERPART = re.compile(r"(\.?)([\w.]+)(?:\(([\w=, ]+)\))?")


@attrs.frozen
class Row:
    """Verbs of Scio's, what they are here, and what differs."""

    scio: tuple[str, ...]
    here: tuple[str, ...]
    differs: str


def rows() -> list[Row]:
    read = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            scio, here, differs = (cell.strip() for cell in line.strip("|").split("|"))
            names = tuple(re.findall("`([^`]+)`", here))
            assert bool(names) != (here == NONE), f"neither names nor {NONE}: {line}"
            read.append(Row(tuple(re.findall("`([^`]+)`", scio)), names, differs))
    return read


ROWS = rows()
COUNTERPARTS = list(dict.fromkeys(name for row in ROWS for name in row.here))


def found(owner: str) -> Any:
    """What a counterpart without its arguments is."""
    first, *others = owner.split(".")
    for module in (beamlike.scio, beamlike.testing, beamlike):
        if hasattr(module, first):
            thing = getattr(module, first)
            for name in others:
                thing = getattr(thing, name)
            return thing
    raise AttributeError(owner)


def split(counterpart: str) -> tuple[str, list[str]]:
    """Where a counterpart is, and the arguments that it is said to take."""
    read = COUNTERPART.fullmatch(counterpart)
    assert read is not None, f"not a name: {counterpart}"
    dot, name, arguments = read.groups()
    path = f"SCollection.{name}" if dot else name
    return path, [it.strip().removesuffix("=") for it in (arguments or "").split(",") if it]


def snake(name: str) -> str:
    return re.sub("(?<=[a-z])([A-Z])", r"_\1", last(name)).lower()


def same_names(row: Row) -> set[str]:
    """The last names of counterparts, and the arguments that they take."""
    return {
        name for it in row.here for path, names in (split(it),) for name in (last(path), *names)
    }


def last(path: str) -> str:
    return path.rpartition(".")[2]


def test_a_counterpart_exists_and_takes_what_the_table_says():
    for path, arguments in map(split, COUNTERPARTS):
        thing = found(path)

        assert callable(thing) or isinstance(thing, property), path
        if arguments:
            assert set(arguments) <= set(inspect.signature(thing).parameters), path


def verbs_of(owner: type, prefix: str) -> set[str]:
    return {
        f"{prefix}{name}"
        for name, thing in inspect.getmembers(owner, callable)
        if not name.startswith(("_", "should")) and not hasattr(PCollection, name)
    }


def functions_of(module: Any) -> set[str]:
    harness = beamlike.testing
    names = {it for it in harness.__all__ if getattr(harness, it).__module__ == module.__name__}
    return {name for name in names if name.islower() or name == "TestPipeline"}


def steps_of_a_stream() -> set[str]:
    verbs = verbs_of(TestStream, "TestStream.")
    return {name for name in verbs if name.partition(".")[2].startswith(("add_", "advance_"))}


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("verbs of collections", verbs_of(SCollection, "SCollection.")),
        ("verbs of contexts", verbs_of(ScioContext, "ScioContext.")),
        ("verbs of side inputs", verbs_of(SideInput, "SideInput.") - {"SideInput.read"}),
        ("with side inputs", verbs_of(SCollectionWithSideInput, "SCollectionWithSideInput.")),
        ("with side outputs", verbs_of(SCollectionWithSideOutput, "SCollectionWithSideOutput.")),
        ("windowed verbs", verbs_of(WindowedSCollection, "WindowedSCollection.")),
        ("ways to make metrics", verbs_of(ScioMetrics, "ScioMetrics.")),
        ("questions to a result", verbs_of(ScioResult, "ScioResult.") - OF_BEAM),
        ("value matchers", functions_of(values)),
        ("pane matchers", functions_of(matchers)),
        ("assertions", verbs_of(Expectation, "Expectation.")),
        ("steps of a stream", steps_of_a_stream()),
        ("ways to run a test", functions_of(pipelines)),
        ("parts of a job test", verbs_of(JobTest, "JobTest.")),
    ],
    ids=lambda it: it.replace(" ", "_") if isinstance(it, str) else "",
)
def test_nothing_is_missing_from_the_table(what: str, names: set[str]):
    assert names, what
    assert sorted(names - {split(counterpart)[0] for counterpart in COUNTERPARTS}) == []


def test_no_verb_of_scios_for_windows_and_tests_is_missing():
    shown = {verb for row in ROWS for verb in row.scio}
    assert [verb for verb in SCIO.split() if verb not in shown] == []


def test_a_verb_of_collections_that_is_not_here_has_none_in_the_table():
    none = {snake(verb) for row in ROWS if not row.here for verb in row.scio}
    assert {"sparse_join", "skewed_join", "batch_byte_sized"} <= INSTEAD.keys() & none


def test_options_of_windows_are_all_in_the_table():
    shown = {
        name for it in COUNTERPARTS if it.startswith("WindowOptions(") for name in split(it)[1]
    }
    assert shown == {field.name for field in attrs.fields(beamlike.scio.WindowOptions)}


def test_a_verb_with_another_name_here_says_what_differs():
    silent = [
        verb
        for row in ROWS
        for verb in row.scio
        if not row.differs and snake(verb) not in same_names(row)
    ]
    assert silent == []


def test_a_verb_without_a_counterpart_says_what_to_do_and_has_none():
    without = [row for row in ROWS if not row.here]
    assert [row for row in without if not row.differs] == []
    owners = (SCollection, ScioContext, JobTest, beamlike.testing)
    known = [
        verb
        for row in without
        for verb in row.scio
        if any(hasattr(owner, snake(verb)) for owner in owners)
    ]
    assert known == []


def test_each_row_of_a_table_has_its_transform_and_each_transform_its_row():
    for table in TABLES:
        rows = [verb.name for verb in verbs(table.VERBS)]
        assert sorted(rows) == sorted(transforms(table)), table.__name__


def test_methods_that_an_explanation_names_exist():
    named = {name for row in ROWS for name in re.findall(r"`\.(\w+)`", row.differs)}
    assert named
    assert [name for name in sorted(named) if not callable(getattr(SCollection, name, None))] == []


def test_each_verb_is_reported_once():
    shown = [(verb, row.here) for row in ROWS for verb in row.scio]
    assert len(shown) == len(set(shown))
