"""Options that programs of Beam set in code, by Beam's classes of them.

Options of other runners are for Beam's own SDK. On a command line they are ignored.

Source: Beam Python ``options.pipeline_options``.
"""

from beamlike.api.pipelines.options import PipelineOptions

__all__ = ["SetupOptions", "TypeOptions"]


class SetupOptions(PipelineOptions):
    """``save_main_session`` has no effect: functions travel with what they use."""

    _declares = "save_main_session:flag no_save_main_session:off>save_main_session"


class TypeOptions(PipelineOptions):
    """How declared types are checked as a pipeline is built, and what is allowed."""

    _declares = (
        "type_check_strictness=DEFAULT_TO_ANY no_pipeline_type_check:off>pipeline_type_check "
        "allow_non_deterministic_key_coders:flag allow_unsafe_triggers:flag"
    )
