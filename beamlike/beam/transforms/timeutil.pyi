"""Beam's ``apache_beam.transforms.timeutil``: what is here of it."""

from beamlike.api.pipelines.userstate import TimeDomain as TimeDomain
