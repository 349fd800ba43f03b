import tempfile
from collections import Counter
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.building import merge_due, read_size
from aidos.model.retrieval.index import Index
from aidos.model.text.analyser import Analyser

PLAIN = Analyser()
TEXTS = st.one_of(st.none(), st.lists(st.sampled_from(["ann", "bob", "cat", "dog", "Eel", "fox", "gnu"])).map(" ".join))


def contents(index):
    """Every document that is left, in order, with its terms and how often each stands in it, read from postings."""
    found = {}
    for number, segment in enumerate(index.segments):
        counted = [Counter() for _ in range(len(segment))]
        for term in range(len(segment.starts) - 1):
            postings = slice(segment.starts[term], segment.starts[term + 1])
            assert (np.diff(segment.documents[postings]) > 0).all()
            for document, frequency in zip(segment.documents[postings], segment.frequencies[postings], strict=True):
                counted[document][index.vocabulary.term(term)] = int(frequency)
        for document, terms in enumerate(counted):
            assert segment.lengths[document] == terms.total()
            if not segment.deleted[document]:
                (name,) = index.names(number, [document])
                assert name not in found
                found[name] = terms
    return found


def statistics(index):
    named = index.collection
    return (
        named.documents,
        named.tokens,
        {term: n for term, n in zip(index.vocabulary, named.term_counts.tolist(), strict=True) if n},
        {term: n for term, n in zip(index.vocabulary, named.document_counts.tolist(), strict=True) if n},
    )


def assert_holds(index, texts, analyser=PLAIN):
    """The index says what a plain dict of documents says."""
    expected = {name: Counter(analyser.terms(text or "")) for name, text in texts.items()}
    assert contents(index) == expected
    assert list(contents(index)) == list(expected)
    assert statistics(index) == (
        len(expected),
        sum(terms.total() for terms in expected.values()),
        dict(sum(expected.values(), Counter())),
        dict(Counter(term for terms in expected.values() for term in terms)),
    )
    assert len(index) == len(expected)
    for name, terms in expected.items():
        numbers, frequencies = index.document(name)
        assert (np.diff(numbers) > 0).all()
        spelled = [index.vocabulary.term(number) for number in numbers]
        assert dict(zip(spelled, frequencies.tolist(), strict=True)) == terms


@given(st.lists(TEXTS), st.sampled_from([1, 200, "1MB"]), st.booleans())
@settings(max_examples=30)
def test_an_index_counts_as_a_dict_does(texts, memory, on_disk):
    named = {f"d{number}": text for number, text in enumerate(texts)}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "index" if on_disk else None
        assert_holds(Index.build(named.items(), analyser=PLAIN, memory=memory, path=path), named)


STEPS = st.one_of(
    st.tuples(st.just("add"), st.lists(TEXTS, min_size=1, max_size=4)),
    st.tuples(st.just("delete"), st.lists(st.integers(0, 50), max_size=6)),
    st.tuples(st.sampled_from(["save", "move"]), st.none()),
)


@given(st.lists(STEPS, max_size=16))
@settings(max_examples=30)
def test_changes_saving_and_opening_leave_the_index_of_what_is_left(steps):
    index, kept, numbers = Index.build([], analyser=PLAIN), {}, count()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory) / "first"
        index.save(home)
        for step, given_ in steps:
            if step == "add":
                new = {f"d{next(numbers) % 7}": text for text in given_}
                new = {name: text for name, text in new.items() if name not in kept}
                index.add(new.items(), memory=1)
                kept |= new
            elif step == "delete":
                gone = {list(kept)[place % len(kept)] for place in given_} if kept else set()
                index.delete(sorted(gone))
                kept = {name: text for name, text in kept.items() if name not in gone}
            else:
                home = Path(directory) / f"moved{next(numbers)}" if step == "move" else home
                index.save(home)
                index = Index.open(home)
            assert_holds(index, kept)


def test_small_segments_are_merged_and_order_stays():
    index, kept = Index.build([], analyser=PLAIN), {}
    for number in range(60):
        index.add([(f"d{number}", f"word{number} again")])
        kept[f"d{number}"] = f"word{number} again"
        assert len(index.segments) < 8
    assert_holds(index, kept)


def test_a_segment_of_which_most_is_deleted_is_written_anew():
    texts = {f"d{number}": f"word{number}" for number in range(10)}
    index = Index.build(texts.items(), analyser=PLAIN)
    index.delete(["d1", "d3", "d5", "d7", "d9"])
    assert [len(segment) for segment in index.segments] == [10]
    index.delete(["d0"])
    assert [len(segment) for segment in index.segments] == [4]
    index.delete(["d2", "d4", "d6", "d8"])
    assert_holds(index, {})


def test_merging_is_due_when_parts_reach_the_next_size_together():
    assert merge_due([]) == 0
    assert merge_due([10] * 7) == 0
    assert merge_due([10**9, *[10] * 8]) == 8
    assert merge_due([*[300_000] * 6, 10]) == 0
    assert merge_due([10**9, *[300_000] * 7]) == 7
    assert merge_due([10**9, 10**3, 10**7, 10]) == 0


def test_the_number_of_segments_grows_with_the_logarithm():
    weights, moved = [], 0
    for _ in range(20_000):
        weights.append(4096)
        while due := merge_due(weights):
            moved += sum(weights[-due:])
            weights[-due:] = [sum(weights[-due:])]
        assert len(weights) <= 7 * 5
    assert moved <= 20_000 * 4096 * 6


def test_stop_words_and_stems_are_those_of_the_analyser():
    analyser = Analyser(stop_words="english", stemmer="english")
    texts = {"a": "The cat's running", "b": "cats run, and the runs"}
    index = Index.build(texts.items(), analyser=analyser)
    index.add([("c", "Running cats")])
    assert_holds(index, texts | {"c": "Running cats"}, analyser)
    assert list(index.vocabulary) == ["cat", "run"]


@pytest.mark.parametrize("shape", ["table", "batch", "reader", "batches"])
def test_arrow_tables_are_documents(shape):
    table = pa.table({"text": ["One two", None, "two"], "post_id": ["a", "b", "c"], "score": [1, 2, 3]})
    documents = {
        "table": table,
        "batch": table.to_batches()[0],
        "reader": table.to_reader(max_chunksize=2),
        "batches": iter(table.to_batches(max_chunksize=1)),
    }[shape]
    assert_holds(Index.build(documents, analyser=PLAIN), {"a": "one two", "b": "", "c": "two"})


def test_columns_can_be_named_and_missing_ones_are_told():
    table = pa.table({"body": ["x"], "name": ["a"]})
    assert_holds(Index.build(table, analyser=PLAIN, columns=("name", "body")), {"a": "x"})
    with pytest.raises(InputError, match="no column post_id and no column text"):
        Index.build(table, analyser=PLAIN)


@pytest.mark.parametrize("memory", [1, "1GB"])
def test_a_name_that_comes_twice_is_refused_by_row_and_never_quoted(memory):
    documents = [("anna", "secret"), ("b", "x"), ("anna", "again"), ("c", ""), ("b", ""), ("b", "")]
    with pytest.raises(InputError) as caught:
        Index.build(documents, analyser=PLAIN, memory=memory)
    assert caught.value.problems[0].lines == (3, 5, 6)
    assert "rows 3, 5, 6" in str(caught.value)
    assert "anna" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_name_that_is_taken_is_refused_and_nothing_is_added():
    index = Index.build([("a", "x"), ("b", "y")], analyser=PLAIN)
    with pytest.raises(InputError):
        index.add([("c", "new words"), ("a", "z")])
    assert_holds(index, {"a": "x", "b": "y"})
    with pytest.raises(InputError):
        index.add(pa.table({"post_id": ["d", "a"], "text": ["more", "z"]}).to_batches(max_chunksize=1))
    assert_holds(index, {"a": "x", "b": "y"})
    index.delete(["a"])
    index.add([("a", "z")])
    assert_holds(index, {"b": "y", "a": "z"})


def test_an_unknown_name_is_not_deleted_and_neither_are_the_others():
    index = Index.build([("a", "x"), ("b", "y")], analyser=PLAIN)
    with pytest.raises(InputError) as caught:
        index.delete(["a", "q", "b", "r"])
    assert caught.value.problems[0].lines == (2, 4)
    assert_holds(index, {"a": "x", "b": "y"})
    with pytest.raises(InputError):
        index.document("q")
    assert index.find("q") is None


@pytest.mark.parametrize(
    "documents",
    [
        [(None, "x")],
        [("a", 3)],
        [("a",)],
        ["ab", "c"],
        [("a", "x", "y")],
        [("\ud800", "x")],
        [3],
        pa.table({"post_id": [1], "text": ["x"]}),
    ],
)
def test_what_is_no_document_is_refused(documents):
    with pytest.raises(InputError):
        Index.build(documents, analyser=PLAIN)


@pytest.mark.parametrize(
    ("size", "bytes_"), [("512MB", 512_000_000), ("1GiB", 2**30), ("1.5 kb", 1500), ("7B", 7), (12, 12)]
)
def test_sizes_are_read(size, bytes_):
    assert read_size(size) == bytes_


@pytest.mark.parametrize("size", ["", "much", "10", "-1MB", 0, "0B"])
def test_impossible_sizes_are_refused(size):
    with pytest.raises(ParameterError):
        read_size(size)
