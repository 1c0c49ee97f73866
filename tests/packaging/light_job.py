"""What runs where beamlike is installed without extras; what does not says what to install.

It is run by `test_distributions` in an environment of its own.
"""

from collections.abc import Callable
from importlib import metadata
from typing import Any

import beamlike as bl
import beamlike.beam as beam
from beamlike.dialects import kafka
from beamlike.errors import EnvironmentProblem
from beamlike.testing import (
    TestStream,
    contain_in_any_order,
    expect,
    in_on_time_pane,
    run_with_context,
)

orders = (
    TestStream()
    .add_elements_at_time("12:01:00", ("table 3", "tea"))
    .advance_watermark_to("12:05:00")
    .add_elements_at_time("12:04:00", ("table 3", "milk"))
    .advance_watermark_to_infinity()
)
windows = bl.FixedWindows("5 minutes")


def scenario(host: Any) -> object:
    return orders.run(window=windows, host=host)


def pipeline(host: Any) -> None:
    built = beam.Pipeline()
    tea = beam.TimestampedValue(("tea", 2), "12:01:00")
    sold = built | beam.Create([tea]) | beam.WindowInto(windows) | beam.CombinePerKey(sum)
    result = built.run() if host is None else built.run(host)
    print("pipeline:", [came.element.value for came in result.out_of(sold.edge)])


def words() -> None:
    lines = TestStream().add_elements_at_time("00:00:10", "to be").advance_watermark_to_infinity()
    with run_with_context() as sc:
        counted = sc.test_stream(lines).with_fixed_windows("1 minute").flat_map(str.split)
        ones = contain_in_any_order([("to", 1), ("be", 1)])
        expect(counted.count_by_value()).to(in_on_time_pane("00:00:00", "00:01:00", ones))
    print("Scio: as expected")


def refused(name: str, call: Callable[[], object]) -> None:
    try:
        call()
    except EnvironmentProblem as problem:
        print(f"{name}: {problem}")


inactive = kafka.SessionWindows.of_inactivity_gap_and_grace("1 minute", "1 hour")
sessions = kafka.group_by_key().windowed_by(inactive).count()

print(scenario("memory"))
pipeline("memory")
words()
refused("scenario on local", lambda: scenario("local"))
refused("scenario on Spark", lambda: scenario("spark"))
refused("pipeline", lambda: pipeline(None))
refused("pipeline on Spark", lambda: pipeline("spark"))
refused("explain_plan", lambda: bl.explain_plan(beam.Pipeline()))
no_frame: Any = None
hourly = {"window": bl.FixedWindows("1 hour"), "aggregate": {"n": bl.count()}}
refused("windowed", lambda: bl.windowed(no_frame, key=[], timestamp="at", **hourly))
refused("stream", lambda: bl.stream(no_frame, timestamp="at"))
refused("open_state", lambda: bl.open_state(no_frame, "checkpoint"))
refused("live_view", lambda: bl.live_view(no_frame))
refused("kafka", lambda: sessions.on_dataframe(no_frame, key="key", timestamp="at"))
refused("approx_distinct", lambda: bl.approx_distinct("who"))
refused("draw", lambda: orders.run(window=windows).draw("orders.png"))
print("drawn:", orders.run(window=windows).figure().svg()[:4])
print(
    "installed:",
    *sorted(distribution.metadata["Name"] for distribution in metadata.distributions()),
)
