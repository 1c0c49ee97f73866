"""Beam's ``apache_beam.io.watermark_estimators``: what is here of it."""

from beamlike.api.pipelines.io.watermark_estimators import (
    ManualWatermarkEstimator as ManualWatermarkEstimator,
)
from beamlike.api.pipelines.io.watermark_estimators import (
    MonotonicWatermarkEstimator as MonotonicWatermarkEstimator,
)
from beamlike.api.pipelines.io.watermark_estimators import (
    WalltimeWatermarkEstimator as WalltimeWatermarkEstimator,
)
from beamlike.api.pipelines.io.watermark_estimators import WatermarkEstimator as WatermarkEstimator
from beamlike.api.pipelines.python.timestamps import Timestamp as Timestamp
from beamlike.api.pipelines.splittable import (
    WatermarkEstimatorProvider as WatermarkEstimatorProvider,
)
