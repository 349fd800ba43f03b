import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.model.text import kernels
from aidos.model.text.vocabulary import Vocabulary

STRINGS = st.lists(st.text(max_size=6))


@given(STRINGS, STRINGS)
def test_numbers_are_given_by_first_appearance(first, second):
    vocabulary = Vocabulary(first)
    found = vocabulary.intern(pa.array(second, type=pa.large_string()))
    expected = list(dict.fromkeys(first + second))
    assert list(vocabulary) == expected
    assert len(vocabulary) == len(expected)
    assert found.tolist() == [expected.index(string) for string in second]
    assert vocabulary.terms(found) == second
    assert vocabulary.ids(expected).tolist() == list(range(len(expected)))
    assert vocabulary.ids_of(pa.array(second, type=pa.string())).tolist() == found.tolist()


def test_unknown_strings_have_no_number():
    vocabulary = Vocabulary(["a", "b"])
    assert vocabulary.find("a") == 0
    assert vocabulary.find("c") is None
    assert vocabulary.find("\ud800") is None
    assert vocabulary.ids(["c", "b", ""]).tolist() == [-1, 1, -1]
    assert Vocabulary().find("") is None
    for number in (-1, 2):
        with pytest.raises(IndexError):
            vocabulary.term(number)


def test_it_grows_far_beyond_its_first_table():
    words = [f"{number:x}" for number in range(20_000)]
    vocabulary = Vocabulary(words[:7])
    vocabulary.intern(pa.array(words))
    assert list(vocabulary) == words


def test_strings_with_one_hash_stay_apart(monkeypatch):
    # The compiled code, run as plain Python, where every string can be given the same hash.
    monkeypatch.setattr(kernels, "_hashed", lambda data, begin, end: np.uint64(7))
    words = ["a", "b", "ab", "ba", "a"]
    data = np.frombuffer(bytearray("".join(words).encode()), dtype=np.uint8)
    bounds = np.cumsum([0, *map(len, words)])
    store, offsets, table = np.zeros(20, np.uint8), np.zeros(20, np.int64), kernels.fresh_table(9)
    found = np.zeros(5, np.int32)
    monkeypatch.setattr(kernels, "_slot", kernels._slot.py_func)
    assert kernels.intern_all.py_func(data, bounds, store, offsets, table, found, 0, 0) == (5, 4)
    assert found.tolist() == [0, 1, 2, 3, 0]


@given(STRINGS, STRINGS)
def test_arrays_hold_everything(first, second):
    vocabulary = Vocabulary(first)
    copied = {name: array.copy() for name, array in vocabulary.arrays().items()}
    again = Vocabulary.from_arrays(copied)
    assert list(again) == list(vocabulary)
    rows = pa.array(second, type=pa.string())
    assert again.intern(rows).tolist() == vocabulary.intern(rows).tolist()
    assert list(again) == list(vocabulary)
    arrays = vocabulary.arrays()
    assert Vocabulary.from_distinct(arrays["bytes"], arrays["offsets"]).ids(list(vocabulary)).tolist() == list(
        range(len(vocabulary))
    )
