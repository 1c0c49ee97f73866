"""The game that several of Beam's and Scio's examples keep the score of.

Original: ``UserScore.scala`` and the users of ``LeaderBoardTest.java``, of scio-examples;
spotify/scio at 3b35141.
"""

from typing import NamedTuple


class GameActionInfo(NamedTuple):
    """What a user did for a team, and when (ms)."""

    user: str
    team: str
    score: int
    timestamp: int


def parse_event(line: str) -> GameActionInfo | None:
    """The event of a line; None if it has none."""
    fields = line.split(",")
    try:
        user, team, score, timestamp = fields[:4]
        return GameActionInfo(user.strip(), team.strip(), int(score), int(timestamp))
    except ValueError:
        return None


class User(NamedTuple):
    """A user and the team."""

    name: str
    team: str


RED_ONE = User("scarlet", "red")
RED_TWO = User("burgundy", "red")
BLUE_ONE = User("navy", "blue")
BLUE_TWO = User("sky", "blue")
