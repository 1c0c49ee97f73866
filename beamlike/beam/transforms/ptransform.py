"""What a transform is: Beam Python's ``transforms.ptransform``."""

from beamlike.api.pipelines.transform import PTransform, ptransform_fn

__all__ = ["PTransform", "ptransform_fn"]
