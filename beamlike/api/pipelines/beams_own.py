"""What only Beam's own SDK has."""

from beamlike.errors import UnsupportedError


def needs_beams_sdk(name: str) -> UnsupportedError:
    """The refusal of a name of Beam, with the way to use it."""
    return UnsupportedError(
        f'{name} is for Beam\'s own SDK; install "beamlike[beam]", import apache_beam, and run '
        "the pipeline with --runner=beamlike.BeamlikeRunner"
    )
