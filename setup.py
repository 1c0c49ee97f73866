"""The packages, found: those of `beamlike`, and the folder `testing` as `beamlike.testing`."""

from setuptools import find_packages, setup

_LINK = "beamlike.testing"

setup(
    packages=[
        *find_packages(include=["beamlike", "beamlike.*"], exclude=[_LINK, f"{_LINK}.*"]),
        *(f"beamlike.{name}" for name in find_packages(include=["testing", "testing.*"])),
    ],
    package_dir={_LINK: "testing"},
)
