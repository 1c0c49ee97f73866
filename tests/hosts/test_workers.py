"""What a Python worker of Spark still does between tasks once it is eased."""

import gc
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from zipfile import ZipFile
from zipimport import zipimporter

import pytest

from beamlike.hosts.spark import workers
from beamlike.hosts.spark.workers import ease_worker


@pytest.fixture(autouse=True)
def new_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process as one that no task has run in."""
    monkeypatch.setattr(workers, "_eased", False)
    yield
    gc.unfreeze()


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The name of a package with two modules in a zip file, of which one was imported."""
    with ZipFile(tmp_path / "zipped.zip", "w") as file:
        file.writestr("zipped_for_test/__init__.py", "")
        file.writestr("zipped_for_test/used.py", "value = 1")
        file.writestr("zipped_for_test/later.py", "value = 2")
    monkeypatch.syspath_prepend(str(tmp_path / "zipped.zip"))
    assert import_module("zipped_for_test.used").value == 1
    for name in ("zipped_for_test", "zipped_for_test.used"):
        monkeypatch.delitem(sys.modules, name)
    return "zipped_for_test"


def zip_finders() -> list[str]:
    return [
        place
        for place, finder in sys.path_importer_cache.items()
        if isinstance(finder, zipimporter)
    ]


def test_no_directory_of_a_zip_file_is_read_again_when_the_next_task_starts(package: str) -> None:
    assert [place for place in zip_finders() if place.endswith(package)]

    ease_worker()

    assert not zip_finders()


def test_modules_in_zip_files_are_found_as_before(package: str) -> None:
    ease_worker()

    assert import_module(f"{package}.later").value == 2


def test_what_is_there_in_the_first_task_is_not_looked_at_when_garbage_is_collected() -> None:
    there = object.__new__(type("There", (), {}))

    ease_worker()

    assert not any(one is there for one in gc.get_objects())


def test_garbage_of_later_tasks_is_collected() -> None:
    ease_worker()
    frozen = gc.get_freeze_count()
    first: list[object] = []
    second: list[object] = [first]
    first.append(second)
    del first, second

    ease_worker()

    assert gc.get_freeze_count() <= frozen
    assert gc.collect() > 0
