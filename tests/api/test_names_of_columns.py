"""Columns of any name, in each role of each verb: they work, or are refused in one line that names
them.

Names are those with what SQL, JSON or patterns have a meaning for, and every name that beamlike
itself gives to a column, read from its source.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import BeamlikeError, ColumnError
from beamlike.runtime.row_metadata import canonical
from tests.support.landing.column_names import names_of_columns
from tests.support.queries.hours import hourly
from tests.support.queries.named_jobs import AWKWARD, JOBS, TIME, Job, played, renamed_rows
from tests.support.queries.rows import ON_BOTH, MakeFeed
from tests.support.queries.shown import shown
from tests.support.zones import session_zone

OF_A_PANE: Final = frozenset(("window", "timestamp", "pane"))
_SOURCE: Final = frozenset(
    ("__beamlike", "__beamlike_event_time", "__beamlike_ticks", "__beamlike_moves")
)
"""What rows of a source have on their way."""
_RESULT: Final = OF_A_PANE | {"dropped", "__beamlike"}
"""What a result has columns of that are called so."""
_KEY: Final = _RESULT | _SOURCE
_HIDDEN: Final = _SOURCE | {"dropped"}
_LOOKING: Final = frozenset(("__beamlike_side", "__beamlike_pane"))

REFUSED: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("windowed", "key"): _KEY,
    ("windowed", "value"): _SOURCE,
    ("windowed", "output"): _RESULT | {""},
    ("windowed", "carry"): _SOURCE,
    ("windowed", "time"): _SOURCE,
    ("grouped twice", "key"): _KEY,
    ("grouped twice", "value"): _KEY | {""},
    ("join", "key"): _KEY | {"left", "right"},
    ("join", "value"): _HIDDEN | {"retraction"},
    ("join", "other"): _HIDDEN | {"retraction"},
    ("look_up", "key"): _KEY | _LOOKING,
    ("look_up", "value"): _HIDDEN | _LOOKING,
    ("look_up", "other"): _HIDDEN | _LOOKING | {"retraction"},
    ("deduplicate", "key"): _KEY,
    ("deduplicate", "value"): _HIDDEN,
    ("apply_per_key", "key"): _KEY,
    ("apply_per_key", "value"): _KEY,
}
"""By verb and role the names that are refused, in small letters."""

LEFT_OUT: Final = frozenset(
    (verb, role) for verb in ("join", "look_up", "deduplicate") for role in ("value", "other")
)
"""Where columns that are called as those of a pane make room for these."""

ALL: Final = ("", *AWKWARD, *names_of_columns())
SAMPLE: Final = (
    *("", *AWKWARD[::4], *sorted({"retraction", *_KEY, *_LOOKING, "left", "key_0"})),
    *names_of_columns()[::70],
)
NAMES: Final = [
    pytest.param(SAMPLE, id="some"),
    pytest.param(ALL, id="all", marks=pytest.mark.nightly),
]
ROLES: Final = [(verb, role) for verb, job in JOBS.items() for role in job.roles]


def plain_names(job: Job) -> dict[str, list[str]]:
    names = {role: [f"the {role}", f"another {role}"] for role in job.roles}
    return names | ({"time": [TIME]} if "time" in names else {})


@pytest.mark.parametrize("streaming", [False, True], ids=["bounded", "streaming"])
@pytest.mark.parametrize(("verb", "role"), ROLES)
@pytest.mark.parametrize("names", NAMES)
def test_on_local_a_column_of_any_name_works_or_is_refused(
    verb: str, role: str, names: Sequence[str], streaming: bool
) -> None:
    job, plain = JOBS[verb], plain_names(JOBS[verb])
    usual = played(job, plain, "local", streaming=streaming)
    refused = set()
    for name in dict.fromkeys(names):
        used = plain | {role: [name, *plain[role][1:]]}
        try:
            rows = played(job, used, "local", streaming=streaming)
        except BeamlikeError as error:
            check_refusal(error, name)
            refused.add(name)
            continue
        left_out = (verb, role) in LEFT_OUT and name.lower() in OF_A_PANE
        expected = renamed_rows(usual, {plain[role][0]: None if left_out else name})
        assert renamed_rows(rows, {}) == expected, name
    assert refused == {name for name in names if name.lower() in REFUSED[verb, role]}


def check_refusal(error: BeamlikeError, name: str) -> None:
    """An error says in one line which name is meant."""
    assert "\n" not in str(error)
    assert repr(name) in str(error) or repr(name.lower()) in str(error), error


# -- Spark --------------------------------------------------------------------------------------


def names_in_all_roles(
    job: Job, verb: str, turn: int, names: Sequence[str]
) -> dict[str, list[str]]:
    """Names of all roles: each name in one of them, with each turn in another."""
    lists = [role for role in job.roles if role != "time"]
    taken: dict[str, list[str]] = {role: [] for role in lists}
    folded = {name.lower(): name for name in names}
    for index, (small, name) in enumerate(folded.items()):
        role = lists[(index + turn) % len(lists)]
        if small not in REFUSED[verb, role] | OF_A_PANE and small != "retraction":
            taken[role].append(name)
    return taken | ({"time": [TIME]} if "time" in job.roles else {})


def _turns() -> Iterator[Any]:
    for verb, job in JOBS.items():
        count = len(job.roles) - ("time" in job.roles)
        for names, streaming, turn in itertools.product((SAMPLE, ALL), (False, True), range(count)):
            daily = names is SAMPLE and turn == 0 and streaming == (verb == "join")
            yield pytest.param(
                *(verb, turn, streaming, names),
                marks=() if daily else pytest.mark.nightly,
                id=f"{verb}-{turn}-{'streaming' if streaming else 'bounded'}-{len(names)}",
            )


@pytest.mark.spark
@pytest.mark.parametrize(("verb", "turn", "streaming", "names"), [*_turns()])
def test_on_spark_columns_of_any_names_work_side_by_side(
    spark: Any, verb: str, turn: int, streaming: bool, names: Sequence[str]
) -> None:
    job = JOBS[verb]
    used = names_in_all_roles(job, verb, turn, names)
    rows = played(job, used, "spark", streaming=streaming, spark=spark)
    expected = played(job, used, "local", streaming=streaming)
    assert renamed_rows(rows, {}) == renamed_rows(expected, {})


@pytest.mark.spark
@pytest.mark.parametrize("verb", JOBS)
def test_on_spark_the_same_names_are_refused(spark: Any, verb: str) -> None:
    job, plain = JOBS[verb], plain_names(JOBS[verb])
    for role in job.roles:
        for name in REFUSED[verb, role]:
            used = plain | {role: [name, *plain[role][1:]]}
            with pytest.raises(BeamlikeError) as refusal:
                played(job, used, "spark", streaming=False, spark=spark)
            check_refusal(refusal.value, name)


@pytest.mark.spark
@pytest.mark.parametrize("names", [pytest.param(AWKWARD[::9], id="some"), NAMES[1]])
def test_on_spark_the_event_time_has_any_name(spark: Any, names: Sequence[str]) -> None:
    job, plain = JOBS["windowed"], plain_names(JOBS["windowed"])
    usual = played(job, plain, "local", streaming=False)
    for name in names:
        if name.lower() not in REFUSED["windowed", "time"]:
            used = plain | {"time": [name]}
            rows = played(job, used, "spark", streaming=False, spark=spark)
            assert renamed_rows(rows, {}) == renamed_rows(usual, {TIME: name}), name


@pytest.mark.nightly
@pytest.mark.spark
def test_strange_names_go_through_state_and_to_the_drops(feed: MakeFeed) -> None:
    stream = feed("`a.b` string, `the ``time` timestamp, `start` int, `t0` int")
    parts = {"end": bl.sum("t0"), "fresh": bl.mean("t0"), "index": bl.collect("t0")}
    how: dict[str, Any] = {"key": ["a.b", "start"], "timestamp": "the `time", "output": "all"}
    out = hourly(stream.frame, parts, watermark="0 s", **how)
    stream.start(out)

    def row(time: str, value: int) -> dict[str, Any]:
        return {"a.b": "x", "the `time": f"2020-01-01T{time}Z", "start": 1, "t0": value}

    assert stream.send(row("00:00:00", 1)) == []
    assert stream.send(row("00:30:00", 2)) == []
    (pane,) = stream.send(row("01:00:00", 3))
    (drop,) = stream.send(row("00:59:59.999", 4))

    names = (*out.columns[:2], "end", "fresh", "index", "dropped")
    assert [pane[name] for name in names] == ["x", 1, 3, 1.5, [1, 2], None]
    assert drop["dropped"] == {
        "stage": "beamlike",
        "reason": "expired",
        "timestamp": "2020-01-01T00:59:59.999Z",
        "watermark": "2020-01-01T01:00:00.000Z",
        "missed_ms": 1,
        "window": {"start": "2020-01-01T00:00:00.000Z", "end": "2020-01-01T01:00:00.000Z"},
        "nearest_session": None,
        "count": 1,
        "error": None,
        # The sum needs t0 as a bigint, the mean as a double, the list as it is.
        "element": '{"a.b":"x","start":1,"t0":4,"t0 as double":4.0,"t0 as int":4}',
    }


# -- names that meet ------------------------------------------------------------------------------

ONE = "select 'a' k, timestamp '2020-01-01 00:30:00Z' at"


@pytest.mark.spark
@pytest.mark.parametrize(
    ("rows", "changes", "expected"),
    [
        pytest.param(
            f"{ONE}, 3 v",
            {"aggregate": {"v": bl.sum("v"), "at": bl.max("at")}},
            [{"k": "a", "v": 3, "at": "2020-01-01T00:30:00.000Z"}],
            id="a result may bear the name of its column",
        ),
        pytest.param(
            f"{ONE} union all select 'a', timestamp '2020-01-01 00:00:00Z'",
            {"key": "at"},
            [
                {"at": "2020-01-01T00:00:00.000Z", "n": 1},
                {"at": "2020-01-01T00:30:00.000Z", "n": 1},
            ],
            id="the event time may be the key",
        ),
        pytest.param(
            f"{ONE}, 1 other, 2 other",
            {},
            [{"k": "a", "n": 1}],
            id="columns that no one asked for may be called the same",
        ),
    ],
)
def test_names_that_meet_do_not_get_in_the_way(
    spark: Any, rows: str, changes: dict[str, Any], expected: list[Any]
) -> None:
    panes = shown(hourly(spark.sql(rows), **changes))
    named = ({name: row[name] for name in expected[0]} for row in panes)
    assert sorted(named, key=repr) == expected


@pytest.mark.spark
def test_times_are_the_same_instants_in_any_session_time_zone(spark: Any) -> None:
    texts = spark.createDataFrame([("a", "2020-01-01 00:30:00")], ["k", "at"])
    with session_zone(spark, "America/New_York"):
        panes = hourly(texts, {"last": bl.max("at")})
        same = panes.selectExpr("window.start = timestamp '2020-01-01T05:00:00Z' same", "last")
        assert shown(same) == [{"same": True, "last": "2020-01-01 00:30:00"}]


# -- fields of structs ----------------------------------------------------------------------------

FIELDS: Final = [
    name for name in dict.fromkeys(("", *AWKWARD, *names_of_columns())) if name != "map"
]


def struct_of_all_names() -> tuple[pa.Table, dict[str, Any]]:
    """Rows with and without a key, whose struct has fields of all names, and times and a map."""
    struct = pa.struct(
        [
            *((name, pa.int64()) for name in FIELDS),
            *(("day", pa.date32()), ("Day", pa.date32())),
            ("map", pa.map_(pa.int64(), pa.int64())),
        ]
    )
    value: dict[str, Any] = {name: index for index, name in enumerate(FIELDS)}
    value |= {"day": date(1, 1, 1), "Day": date(9999, 12, 31), "map": [(1, 2)]}
    at = pa.array([0, 0], pa.timestamp("us", "UTC"))
    return pa.table({"k": ["a", None], "at": at, "s": pa.array([value, value], struct)}), value


@ON_BOTH
def test_fields_of_structs_have_any_name(host: str, request: Any) -> None:
    table, value = struct_of_all_names()
    rows: Any = table
    if host == "spark":
        rows = request.getfixturevalue("spark").createDataFrame(table)
    panes = hourly(rows, {"first": bl.first("s"), "all": bl.collect("s")}, output="all")
    out = (panes if host == "local" else canonical(panes.toArrow())).to_pylist()
    kept, lost = sorted(out, key=lambda row: row["dropped"] is not None)
    assert (kept["first"], kept["all"]) == (value, [value])
    times = {"day": "0001-01-01", "Day": "9999-12-31", "map": [{"key": 1, "value": 2}]}
    assert json.loads(lost["dropped"]["element"])["s"] == value | times


# -- twins that differ in case --------------------------------------------------------------------


def twins(verb: str) -> dict[str, list[str]]:
    names = {role: [f"the {role}", f"The {role}"] for role in JOBS[verb].roles}
    return names | ({"time": ["AT"]} if "time" in names else {})


@pytest.mark.spark
@pytest.mark.parametrize("streaming", [False, True], ids=["bounded", "streaming"])
@pytest.mark.parametrize("verb", JOBS)
def test_where_case_matters_twins_are_two_columns(
    spark: Any, setting: Any, verb: str, streaming: bool
) -> None:
    setting("spark.sql.caseSensitive", "true")
    job, plain, used = JOBS[verb], plain_names(JOBS[verb]), twins(verb)
    usual = played(job, plain, "local", streaming=streaming)
    rows = played(job, used, "spark", streaming=streaming, spark=spark)
    names = {old: new for role in plain for old, new in zip(plain[role], used[role], strict=True)}
    assert renamed_rows(rows, {}) == renamed_rows(usual, names)


@ON_BOTH
@pytest.mark.parametrize("verb", JOBS)
def test_elsewhere_twins_are_refused(host: Any, verb: str, request: Any) -> None:
    session = request.getfixturevalue("spark") if host == "spark" else None
    plain, used = plain_names(JOBS[verb]), twins(verb)
    for role in JOBS[verb].roles:
        if role == "time":
            continue
        names = plain | {role: used[role]}
        with pytest.raises(ColumnError) as refusal:
            played(JOBS[verb], names, host, streaming=False, spark=session)
        check_refusal(refusal.value, used[role][0])
