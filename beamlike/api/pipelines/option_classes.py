"""The options of Beam's runners and of its parts, by its classes.

They may be given and read. Here they count for nothing, except what `PipelineOptions` says.

Source: Beam Python ``options.pipeline_options``.
"""

from beamlike.api.pipelines.options import PipelineOptions

__all__ = [
    "AzureOptions",
    "CrossLanguageOptions",
    "DebugOptions",
    "DirectOptions",
    "FlinkRunnerOptions",
    "GoogleCloudOptions",
    "HadoopFileSystemOptions",
    "JobServerOptions",
    "KafkaStreamsRunnerOptions",
    "PortableOptions",
    "PrismRunnerOptions",
    "ProfilingOptions",
    "S3Options",
    "SetupOptions",
    "SparkRunnerOptions",
    "StreamingOptions",
    "TestDataflowOptions",
    "TestOptions",
    "TypeOptions",
    "WorkerOptions",
]


class AzureOptions(PipelineOptions):
    """Azure."""

    _declares = "azure_connection_string blob_service_endpoint azure_managed_identity_client_id"


class CrossLanguageOptions(PipelineOptions):
    """Transforms in other languages."""

    _declares = "beam_services:json use_transform_service:flag"


class DebugOptions(PipelineOptions):
    """Experiments."""

    _declares = (
        "dataflow_job_file experiment|experiments:commas>experiments "
        "number_of_worker_harness_threads:int"
    )

    experiments: list[str] | None

    def add_experiment(self, experiment: str) -> None:
        """Name an experiment, once."""
        self.experiments = list(dict.fromkeys([*(self.experiments or ()), experiment]))

    def lookup_experiment(self, key: str, default: str | None = None) -> bool | str | None:
        """Whether an experiment is named, or its value in ``key=value``."""
        for named in self.experiments or ():
            name, equals, value = named.partition("=")
            if name == key:
                return value if equals else True
        return default


class DirectOptions(PipelineOptions):
    """Beam's own runner in a process."""

    _declares = (
        "no_direct_runner_use_stacked_bundle:off>direct_runner_use_stacked_bundle "
        "direct_runner_bundle_repeat:int direct_num_workers:int=1 "
        "direct_running_mode=in_memory direct_embed_docker_python:flag "
        "direct_test_splits:json"
    )


class FlinkRunnerOptions(PipelineOptions):
    """Flink."""

    _declares = (
        "flink_master=[auto] flink_version flink_job_server_jar "
        "flink_submit_uber_jar:flag parallelism:int=-1 max_parallelism:int=-1"
    )


class GoogleCloudOptions(PipelineOptions):
    """Google Cloud."""

    _declares = (
        "dataflow_endpoint project job_name staging_location temp_location region "
        "service_account_email no_auth:flag template_location label|labels:list>labels "
        "update:flag transform_name_mapping:json enable_streaming_engine:flag=True "
        "dataflow_kms_key create_from_snapshot flexrs_goal "
        "dataflow_service_option|dataflow_service_options:commas>dataflow_service_options "
        "enable_hot_key_logging:flag enable_artifact_caching:flag "
        "impersonate_service_account "
        "gcp_oauth_scope|gcp_oauth_scopes:list>gcp_oauth_scopes "
        "enable_bucket_read_metric_counter:flag enable_bucket_write_metric_counter:flag "
        "no_gcsio_throttling_counter:flag enable_gcsio_blob_generation:flag "
        "gcs_custom_audit_entry|gcs_custom_audit_entries:list>gcs_custom_audit_entries"
    )


class HadoopFileSystemOptions(PipelineOptions):
    """Hadoop's file system."""

    _declares = "hdfs_host hdfs_port hdfs_user hdfs_full_urls:flag"


class JobServerOptions(PipelineOptions):
    """A job server."""

    _declares = (
        "artifacts_dir job_port:int artifact_port:int expansion_port:int "
        "job_server_java_launcher=java "
        "job_server_jvm_properties|job_server_jvm_property:list jar_cache_dir"
    )


class KafkaStreamsRunnerOptions(PipelineOptions):
    """Kafka Streams."""

    _declares = "bootstrap_servers=localhost:9092 application_id kafka_streams_job_server_jar"


class PortableOptions(PipelineOptions):
    """Runners behind a service."""

    _declares = (
        "job_endpoint artifact_endpoint job_server_timeout|job-server-timeout:int=300 "
        "environment_type environment_config "
        "environment_option|environment_options:list>environment_options "
        "sdk_worker_parallelism=1 environment_cache_millis output_executable_path"
    )


class PrismRunnerOptions(PipelineOptions):
    """Prism."""

    _declares = (
        "prism_location prism_beam_version_override prism_log_level=info prism_log_kind=console"
    )


class ProfilingOptions(PipelineOptions):
    """Profiles."""

    _declares = (
        "profile_cpu:flag profile_memory:flag profile_location "
        "profile_sample_rate:float=1.0 profiler_agent "
        "profiler_extra_arg|profiler_extra_args:commas>profiler_extra_args "
        "profiler_extra_env_var|profiler_extra_env_vars:commas>profiler_extra_env_vars "
        "profile_temp_location profile_upload_interval_sec:int=300 "
        "profiler_stop_after_sec:int profiler_stop_after_crash:flag "
        "profile_postprocess_interval_sec:int=600"
    )


class S3Options(PipelineOptions):
    """Amazon S3."""

    _declares = (
        "s3_access_key_id s3_secret_access_key s3_session_token s3_endpoint_url "
        "s3_region_name s3_api_version s3_verify s3_disable_ssl:flag"
    )


class SetupOptions(PipelineOptions):
    """What workers need; functions travel with what they use here."""

    _declares = (
        "requirements_file requirements_cache requirements_cache_only_sources:flag "
        "setup_file beam_plugin|beam_plugins:list>beam_plugins pickle_library=default "
        "save_main_session:flag no_save_main_session:off>save_main_session "
        "sdk_location=default extra_package|extra_packages:list>extra_packages "
        "file_to_stage|files_to_stage:list>files_to_stage prebuild_sdk_container_engine "
        "prebuild_sdk_container_base_image cloud_build_machine_type "
        "docker_registry_push_url gbek user_agent maven_repository_url"
    )


class SparkRunnerOptions(PipelineOptions):
    """Spark as Beam runs it."""

    _declares = (
        "spark_master_url=local[4] spark_job_server_jar spark_submit_uber_jar:flag "
        "spark_rest_url spark_version=3"
    )


class StreamingOptions(PipelineOptions):
    """What a runner of streams may do."""

    _declares = "update_compatibility_version"


class TestDataflowOptions(PipelineOptions):
    """Beam's tests of Dataflow."""

    _declares = "pubsub_root_url>pubsubRootUrl"


class TestOptions(PipelineOptions):
    """Beam's tests."""

    _declares = "on_success_matcher dry_run wait_until_finish_duration:int"


class TypeOptions(PipelineOptions):
    """How hints about types are checked."""

    _declares = (
        "type_check_strictness=DEFAULT_TO_ANY type_check_additional= "
        "no_pipeline_type_check:off>pipeline_type_check disable_beartype:flag "
        "exclude_infer_dataclass_field_type:flag runtime_type_check:flag "
        "performance_runtime_type_check:flag allow_non_deterministic_key_coders:flag "
        "allow_unsafe_triggers:flag force_cloudpickle_deterministic_coders:flag"
    )


class WorkerOptions(PipelineOptions):
    """Machines that work."""

    _declares = (
        "num_workers:int max_num_workers:int autoscaling_algorithm "
        "worker_machine_type|machine_type>machine_type disk_size_gb:int "
        "worker_disk_type|disk_type>disk_type disk_provisioned_iops:int "
        "disk_provisioned_throughput_mibps:int worker_region worker_zone zone network "
        "subnetwork worker_harness_container_image sdk_container_image "
        "sdk_harness_container_image_overrides:list default_sdk_harness_log_level "
        "sdk_harness_log_level_overrides:json use_public_ips:flag "
        "no_use_public_ips:off>use_public_ips min_cpu_platform "
        "max_cache_memory_usage_mb:int element_processing_timeout_minutes:int"
    )
