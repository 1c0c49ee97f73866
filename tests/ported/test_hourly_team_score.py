"""Scores of users, and of teams for each hour, out of a file with some bad lines.

Originals: ``UserScoreTest.scala`` and ``HourlyTeamScoreTest.scala`` of scio-examples;
spotify/scio at 3b35141. They share how a line is read.

The originals look at values, here each output is asserted with all panes. Times are written for
eight hours behind UTC, which is what the original's zone is at the time of its data.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from game import parse_event

from beamlike.scio import ScioContext, SCollection
from beamlike.testing import JobTest, element, emit_exactly, expect

PACIFIC = timezone(timedelta(hours=-8))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UserScoreSums(NamedTuple):
    user: str
    total_score: int


class TeamScoreSums(NamedTuple):
    user: str
    total_score: int
    window_start: str


def user_scores(lines: SCollection[str]) -> SCollection[tuple[str, int]]:
    return lines.collect(parse_event).map(lambda info: (info.user, info.score)).sum_by_key()


def user_score(sc: ScioContext, args: Mapping[str, str]) -> None:
    """The job: what each user has."""
    sums = user_scores(sc.read(args["input"])).map(lambda pair: UserScoreSums(*pair))
    sums.save_as(args["output"])


def team_scores(
    lines: SCollection[str],
    start_min: str = "1970-01-01-00-00",
    stop_min: str = "2100-01-01-00-00",
    window_duration: int = 60,
) -> SCollection[TeamScoreSums]:
    """What each team has in each window of so many minutes, of events between two minutes."""
    start, stop = minute(start_min), minute(stop_min)
    return (
        lines.collect(parse_event)
        .filter(lambda info: start < info.timestamp < stop)
        .timestamp_by(lambda info: info.timestamp)
        .with_fixed_windows(timedelta(minutes=window_duration))
        .map(lambda info: (info.team, info.score))
        .sum_by_key()
        .with_window()
        .map(lambda found: TeamScoreSums(*found[0], pacific_time(found[1].start)))
    )


def hourly_team_score(sc: ScioContext, args: Mapping[str, str]) -> None:
    """The job: what each team has in each hour."""
    between = {name: args[name] for name in ("start_min", "stop_min") if name in args}
    minutes = int(args.get("window_duration", 60))
    team_scores(sc.read(args["input"]), **between, window_duration=minutes).save_as(args["output"])


def minute(text: str) -> int:
    moment = datetime.strptime(text, "%Y-%m-%d-%H-%M").replace(tzinfo=PACIFIC)
    return (moment - EPOCH) // timedelta(milliseconds=1)


def pacific_time(instant: int) -> str:
    moment = (EPOCH + timedelta(milliseconds=instant)).astimezone(PACIFIC)
    return moment.replace(tzinfo=None).isoformat(" ", timespec="milliseconds")


USERS = [
    "user0_MagentaKangaroo,MagentaKangaroo,3,1447955630000,2015-11-19 09:53:53.444",
    "user13_ApricotQuokka,ApricotQuokka,15,1447955630000,2015-11-19 09:53:53.444",
    "user6_AmberNumbat,AmberNumbat,11,1447955630000,2015-11-19 09:53:53.444",
    "user7_AlmondWallaby,AlmondWallaby,15,1447955630000,2015-11-19 09:53:53.444",
    "user7_AndroidGreenKookaburra,AndroidGreenKookaburra,12,1447955630000,2015-11-19 09:53:53.444",
    "user6_AliceBlueDingo,AliceBlueDingo,4,xxxxxxx,2015-11-19 09:53:53.444",
    "user7_AndroidGreenKookaburra,AndroidGreenKookaburra,11,1447955630000,2015-11-19 09:53:53.444",
    "THIS IS A PARSE ERROR,2015-11-19 09:53:53.444",
    "user19_BisqueBilby,BisqueBilby,6,1447955630000,2015-11-19 09:53:53.444",
    "user19_BisqueBilby,BisqueBilby,8,1447955630000,2015-11-19 09:53:53.444",
]

BAD = [
    "user6_AliceBlueDingo,AliceBlueDingo,4,xxxxxxx,2015-11-19 09:53:53.444",
    "THIS IS A PARSE ERROR,2015-11-19 09:53:53.444",
    "user13_BisqueBilby,BisqueBilby,xxx,1447955630000,2015-11-19 09:53:53.444",
]

EXPECTED_USERS = [
    UserScoreSums("user0_MagentaKangaroo", 3),
    UserScoreSums("user13_ApricotQuokka", 15),
    UserScoreSums("user6_AmberNumbat", 11),
    UserScoreSums("user7_AlmondWallaby", 15),
    UserScoreSums("user7_AndroidGreenKookaburra", 23),
    UserScoreSums("user19_BisqueBilby", 14),
]


def test_user_score_works(sc: ScioContext) -> None:
    (
        JobTest(user_score)
        .args("--input=in.txt", "--output=dataset.table")
        .input("in.txt", USERS)
        .output("dataset.table")(
            lambda coll: expect(coll).to(
                emit_exactly(*[element(it, "global", timing="ON_TIME") for it in EXPECTED_USERS])
            )
        )
        .run_within(sc)
    )


def test_user_score_drops_bad_input(sc: ScioContext) -> None:
    (
        JobTest(user_score)
        .args("--input=in.txt", "--output=dataset.table")
        .input("in.txt", BAD)
        .output("dataset.table")(lambda coll: expect(coll).to(emit_exactly()))
        .run_within(sc)
    )


TEAMS = [
    "user0_MagentaKangaroo,MagentaKangaroo,3,1447955630000,2015-11-19 09:53:53.444",
    "user13_ApricotQuokka,ApricotQuokka,15,1447955630000,2015-11-19 09:53:53.444",
    "user6_AmberNumbat,AmberNumbat,11,1447955630000,2015-11-19 09:53:53.444",
    "user7_AlmondWallaby,AlmondWallaby,15,1447955630000,2015-11-19 09:53:53.444",
    "user7_AndroidGreenKookaburra,AndroidGreenKookaburra,12,1447955630000,2015-11-19 09:53:53.444",
    "user7_AndroidGreenKookaburra,AndroidGreenKookaburra,11,1447955630000,2015-11-19 09:53:53.444",
    "user19_BisqueBilby,BisqueBilby,6,1447955630000,2015-11-19 09:53:53.444",
    "user19_BisqueBilby,BisqueBilby,8,1447955630000,2015-11-19 09:53:53.444",
    # Some time passes.
    "user0_AndroidGreenEchidna,AndroidGreenEchidna,0,1447965690000,2015-11-19 12:41:31.053",
    "user0_MagentaKangaroo,MagentaKangaroo,4,1447965690000,2015-11-19 12:41:31.053",
    "user2_AmberCockatoo,AmberCockatoo,13,1447965690000,2015-11-19 12:41:31.053",
    "user18_BananaEmu,BananaEmu,7,1447965690000,2015-11-19 12:41:31.053",
    "user3_BananaEmu,BananaEmu,17,1447965690000,2015-11-19 12:41:31.053",
    "user18_BananaEmu,BananaEmu,1,1447965690000,2015-11-19 12:41:31.053",
    "user18_ApricotCaneToad,ApricotCaneToad,14,1447965690000,2015-11-19 12:41:31.053",
]

NINE, TWELVE = "2015-11-19 09:00:00.000", "2015-11-19 12:00:00.000"

EXPECTED_TEAMS = [
    TeamScoreSums("AlmondWallaby", 15, NINE),
    TeamScoreSums("AmberCockatoo", 13, TWELVE),
    TeamScoreSums("AmberNumbat", 11, NINE),
    TeamScoreSums("AndroidGreenEchidna", 0, TWELVE),
    TeamScoreSums("AndroidGreenKookaburra", 23, NINE),
    TeamScoreSums("ApricotCaneToad", 14, TWELVE),
    TeamScoreSums("ApricotQuokka", 15, NINE),
    TeamScoreSums("BananaEmu", 25, TWELVE),
    TeamScoreSums("BisqueBilby", 14, NINE),
    TeamScoreSums("MagentaKangaroo", 3, NINE),
    TeamScoreSums("MagentaKangaroo", 4, TWELVE),
]


def test_hourly_team_score_works(sc: ScioContext) -> None:
    hours = {
        NINE: ("2015-11-19 17:00:00", "2015-11-19 18:00:00"),
        TWELVE: ("2015-11-19 20:00:00", "2015-11-19 21:00:00"),
    }
    panes = [element(it, hours[it.window_start], timing="ON_TIME") for it in EXPECTED_TEAMS]
    (
        JobTest(hourly_team_score)
        .args("--input=in.txt", "--output=dataset.table")
        .input("in.txt", TEAMS)
        .output("dataset.table")(lambda coll: expect(coll).to(emit_exactly(*panes)))
        .run_within(sc)
    )
