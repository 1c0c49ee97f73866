"""Rows of devices as a pipeline has them, whose clocks may be wrong."""

from typing import Any

import beamlike.beam as beam

SIGNALS = "device string, at string, n int"


def sums_of_devices(frame: Any, spark: Any) -> Any:
    """The sums of five minutes that a pipeline makes of a stream of signals, as a DataFrame."""
    rows = beam.Pipeline() | "Read" >> beam.FromDataFrame(
        frame, timestamp="at", watermark="5 minutes"
    )
    windows = beam.WindowInto(
        beam.FixedWindows("5 minutes"),
        allowed_lateness="10 minutes",
        accumulation_mode=beam.AccumulationMode.DISCARDING,
    )
    pairs = rows | beam.Map(lambda row: (row.device, row.n)) | windows
    sums = pairs | "Sum" >> beam.CombinePerKey(sum)
    return beam.to_data_frame(sums, "device string, n int", spark=spark)
