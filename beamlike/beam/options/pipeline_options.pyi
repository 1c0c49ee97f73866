"""Beam's ``apache_beam.options.pipeline_options``: what is here of it."""

from beamlike.api.pipelines.option_classes import AzureOptions as AzureOptions
from beamlike.api.pipelines.option_classes import CrossLanguageOptions as CrossLanguageOptions
from beamlike.api.pipelines.option_classes import DebugOptions as DebugOptions
from beamlike.api.pipelines.option_classes import DirectOptions as DirectOptions
from beamlike.api.pipelines.option_classes import FlinkRunnerOptions as FlinkRunnerOptions
from beamlike.api.pipelines.option_classes import GoogleCloudOptions as GoogleCloudOptions
from beamlike.api.pipelines.option_classes import HadoopFileSystemOptions as HadoopFileSystemOptions
from beamlike.api.pipelines.option_classes import JobServerOptions as JobServerOptions
from beamlike.api.pipelines.option_classes import (
    KafkaStreamsRunnerOptions as KafkaStreamsRunnerOptions,
)
from beamlike.api.pipelines.option_classes import PortableOptions as PortableOptions
from beamlike.api.pipelines.option_classes import PrismRunnerOptions as PrismRunnerOptions
from beamlike.api.pipelines.option_classes import ProfilingOptions as ProfilingOptions
from beamlike.api.pipelines.option_classes import S3Options as S3Options
from beamlike.api.pipelines.option_classes import SetupOptions as SetupOptions
from beamlike.api.pipelines.option_classes import SparkRunnerOptions as SparkRunnerOptions
from beamlike.api.pipelines.option_classes import StreamingOptions as StreamingOptions
from beamlike.api.pipelines.option_classes import TestDataflowOptions as TestDataflowOptions
from beamlike.api.pipelines.option_classes import TestOptions as TestOptions
from beamlike.api.pipelines.option_classes import TypeOptions as TypeOptions
from beamlike.api.pipelines.option_classes import WorkerOptions as WorkerOptions
from beamlike.api.pipelines.options import OptionsContext as OptionsContext
from beamlike.api.pipelines.options import PipelineOptions as PipelineOptions
from beamlike.api.pipelines.options import StandardOptions as StandardOptions
from beamlike.api.pipelines.value_providers import RuntimeValueProvider as RuntimeValueProvider
from beamlike.api.pipelines.value_providers import StaticValueProvider as StaticValueProvider
from beamlike.api.pipelines.value_providers import ValueProvider as ValueProvider
