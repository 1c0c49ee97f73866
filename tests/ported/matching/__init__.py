"""What must not hold, in a test where all that is asserted has to hold."""

import attrs

from beamlike.testing.assertions.failures import Failure
from beamlike.testing.streams.results import Matcher, Results

__all__ = ["refused", "refused_not_to"]


@attrs.frozen
class Refused:
    matcher: Matcher
    as_negative: bool

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        if self.matcher.failure(results, negated=self.as_negative) is not None:
            return None
        return Failure(f"{self.matcher} holds, and should be refused")


def refused(matcher: Matcher) -> Matcher:
    """That ``to(matcher)`` is refused."""
    return Refused(matcher, as_negative=False)


def refused_not_to(matcher: Matcher) -> Matcher:
    """That ``not_to(matcher)`` is refused."""
    return Refused(matcher, as_negative=True)
