"""A function in a thread or a process of its own, for `with_exception_handling`."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextvars import Context, copy_context
from typing import Any

import cloudpickle

from beamlike.api.pipelines.dofn import DoFn


class Apart:
    """A function in a thread or a process of its own, which may not take too long.

    In a thread its metrics count; in another process they are lost, as in Beam.
    """

    def __init__(self, fn: DoFn[Any, Any], in_process: bool, timeout: float | None) -> None:
        self.fn, self.in_process, self.timeout = fn, in_process, timeout
        self._pool: Executor | None = None
        self._begun: list[str] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None, "_begun": []}

    def setup(self) -> None:
        self._call("setup")

    def start_bundle(self) -> None:
        self._call("start_bundle")

    def finish_bundle(self) -> Any:
        return self._call("finish_bundle")

    def teardown(self) -> None:
        if self._pool is not None:
            self._call("teardown")
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def process(self, *args: Any, **kwargs: Any) -> Any:
        return self._call("process", *args, **kwargs)

    def _call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if method in ("setup", "start_bundle"):
            self._begun = [] if method == "setup" else self._begun[:1]
        timeout = self.timeout if method == "process" else None
        try:
            future = self._started().submit(self._work, method, args, kwargs)
            answer = future.result(timeout)
        except (TimeoutError, BrokenProcessPool):
            assert self._pool is not None, "it has just been used"
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
            raise
        if method in ("setup", "start_bundle"):
            self._begun.append(method)
        return cloudpickle.loads(answer) if self.in_process else answer

    def _started(self) -> Executor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1) if self.in_process else ThreadPoolExecutor(1)
            for method in self._begun:  # a new process begins where the lost one was
                self._pool.submit(self._work, method, (), {}).result()
        return self._pool

    @property
    def _work(self) -> Callable[[str, tuple[Any, ...], Mapping[str, Any]], Any]:
        return _InProcess(self.fn) if self.in_process else _InThread(self.fn, copy_context())


class _InThread:
    """Calls the function where its metrics count: in the context of the thread that asks."""

    def __init__(self, fn: DoFn[Any, Any], context: Context) -> None:
        self.fn, self.context = fn, context

    def __call__(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return self.context.run(_listed, getattr(self.fn, method), args, kwargs)


def _listed(call: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    answer = call(*args, **kwargs)
    return None if answer is None else list(answer)


class _InProcess:
    """Keeps the function in the process that it is sent to."""

    def __init__(self, fn: DoFn[Any, Any]) -> None:
        self.pickled = cloudpickle.dumps(fn)

    def __call__(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bytes:
        fn = _KEPT.get(self.pickled)
        if fn is None:
            fn = _KEPT[self.pickled] = cloudpickle.loads(self.pickled)
        answer: bytes = cloudpickle.dumps(_listed(getattr(fn, method), args, kwargs))
        return answer


_KEPT: dict[bytes, DoFn[Any, Any]] = {}
