"""Users whose score is too good to be true.

Original: ``GameStatsTest.scala`` of scio-examples; spotify/scio at 3b35141.

The test says all panes too: what looks at the mean keeps the pane of its own sum.
"""

from beamlike.scio import ScioContext, SCollection
from beamlike.testing import emit_exactly, expect, on_time_pane


def calculate_spammy_users(scores: SCollection[tuple[str, int]]) -> SCollection[tuple[str, int]]:
    """Users with more than two and a half times of what users have on average."""
    sum_scores = scores.sum_by_key()
    global_mean_score = sum_scores.values().mean()
    return (
        sum_scores.cross(global_mean_score).filter(lambda pair: pair[0][1] > pair[1] * 2.5).keys()
    )


def test_calculate_spammy_users_works(sc: ScioContext) -> None:
    user_scores = [
        ("Robot-2", 66),
        ("Robot-1", 116),
        ("user7_AndroidGreenKookaburra", 23),
        ("user7_AndroidGreenKookaburra", 1),
        ("user19_BisqueBilby", 14),
        ("user13_ApricotQuokka", 15),
        ("user18_BananaEmu", 25),
        ("user6_AmberEchidna", 8),
        ("user2_AmberQuokka", 6),
        ("user0_MagentaKangaroo", 4),
        ("user0_MagentaKangaroo", 3),
        ("user2_AmberCockatoo", 13),
        ("user7_AlmondWallaby", 15),
        ("user6_AmberNumbat", 11),
        ("user6_AmberQuokka", 4),
    ]
    p = calculate_spammy_users(sc.parallelize(user_scores))
    expect(p).to(
        emit_exactly(
            on_time_pane("Robot-2", 66, "global", is_last=True),
            on_time_pane("Robot-1", 116, "global", is_last=True),
        )
    )
