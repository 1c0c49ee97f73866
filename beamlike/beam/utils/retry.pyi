"""Beam's ``apache_beam.utils.retry``: what is here of it."""

from beamlike.api.pipelines.io.errors import BeamIOError as BeamIOError
from beamlike.api.pipelines.retrying import (
    SERVER_ERROR_OR_TIMEOUT_CODES as SERVER_ERROR_OR_TIMEOUT_CODES,
)
from beamlike.api.pipelines.retrying import Clock as Clock
from beamlike.api.pipelines.retrying import FuzzedExponentialIntervals as FuzzedExponentialIntervals
from beamlike.api.pipelines.retrying import PermanentException as PermanentException
from beamlike.api.pipelines.retrying import no_retries as no_retries
from beamlike.api.pipelines.retrying import (
    retry_if_valid_input_but_server_error_and_timeout_filter as retry_if_valid_input_but_server_error_and_timeout_filter,
)
from beamlike.api.pipelines.retrying import (
    retry_on_beam_io_error_filter as retry_on_beam_io_error_filter,
)
from beamlike.api.pipelines.retrying import (
    retry_on_server_errors_and_notfound_filter as retry_on_server_errors_and_notfound_filter,
)
from beamlike.api.pipelines.retrying import (
    retry_on_server_errors_and_timeout_filter as retry_on_server_errors_and_timeout_filter,
)
from beamlike.api.pipelines.retrying import (
    retry_on_server_errors_filter as retry_on_server_errors_filter,
)
from beamlike.api.pipelines.retrying import with_exponential_backoff as with_exponential_backoff
