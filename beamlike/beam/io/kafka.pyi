"""Beam's ``apache_beam.io.kafka``: what is here of it."""

from beamlike.api.pipelines.kafka import ReadFromKafka as ReadFromKafka
from beamlike.api.pipelines.kafka import WriteToKafka as WriteToKafka
