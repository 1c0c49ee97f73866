"""Whatever is read is taken or properly refused. The long form: ``python -m tests.fuzz``."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.mutations import damaged, json_documents
from tests.fuzz.readers import READERS, Reader, attempt
from tests.support.examples import examples

BY_NAME = pytest.mark.parametrize("reader", READERS, ids=[it.name for it in READERS])
OF_JSON = [it for it in READERS if it.name in ("scenarios", "results", "headers")]
A_FEW = settings(max_examples=examples(40))


@BY_NAME
def test_what_is_well_formed_is_taken(reader: Reader) -> None:
    for seed in reader.seeds():
        assert attempt(reader, seed), seed


@BY_NAME
def test_what_was_once_answered_badly_is_taken_or_refused(reader: Reader) -> None:
    assert attempt(reader, reader.seeds()[0])
    for path in reader.kept:
        attempt(reader, path.read_bytes())


@BY_NAME
def test_what_is_damaged_is_taken_or_refused(reader: Reader) -> None:
    @A_FEW
    @given(st.sampled_from(reader.seeds()).flatmap(lambda good: damaged(good, reader.words)))
    def check(data: bytes) -> None:
        attempt(reader, data)

    check()


@BY_NAME
def test_any_bytes_are_taken_or_refused(reader: Reader) -> None:
    @A_FEW
    @given(st.binary(max_size=40) | st.text(max_size=20).map(lambda it: it.encode()))
    def check(data: bytes) -> None:
        attempt(reader, data)

    check()


@pytest.mark.parametrize("reader", OF_JSON, ids=[it.name for it in OF_JSON])
def test_a_document_with_other_values_is_taken_or_refused(reader: Reader) -> None:
    @A_FEW
    @given(st.sampled_from(reader.seeds()).flatmap(json_documents))
    def check(data: bytes) -> None:
        attempt(reader, data)

    check()
