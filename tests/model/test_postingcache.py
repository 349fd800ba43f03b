"""The cache of posting lists: a greedy choice by score, checked list by list, and its hits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.studies.utility.ground import CacheLimits, choose_lists, hit_probability

KEYWORDS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 40)), max_size=30)


def one_by_one(frequencies, documents, limits):
    """The greedy choice in words: the best score first, what does not fit is passed over."""
    useful = [
        place for place, (asked, having) in enumerate(zip(frequencies, documents, strict=True)) if asked and having
    ]
    useful.sort(key=lambda place: (-frequencies[place] / documents[place], place))
    room, kept = limits.memory_bytes, [False] * len(frequencies)
    for place in useful:
        size = min(documents[place], limits.longest_list) * limits.posting_bytes
        if size <= room:
            kept[place], room = True, room - size
    return kept


@given(KEYWORDS, st.integers(1, 2_000), st.integers(1, 30))
def test_lists_are_chosen_as_one_by_one(keywords, memory, longest):
    frequencies, documents = [list(side) for side in zip(*keywords, strict=True)] if keywords else ([], [])
    limits = CacheLimits(memory_bytes=memory, longest_list=longest)
    kept = choose_lists(frequencies, documents, limits)
    assert kept.tolist() == one_by_one(frequencies, documents, limits)
    assert limits.sizes(documents)[kept].sum() <= memory


def test_the_paper_sizes_are_the_default():
    limits = CacheLimits()
    assert limits.sizes([1, 200_000, 5_000_000]).tolist() == [8, 1_600_000, 1_600_000]
    assert limits.memory_bytes == 10**9


def test_a_short_list_that_is_asked_often_goes_first():
    kept = choose_lists([10, 10, 30], [5, 1, 10], CacheLimits(memory_bytes=8 * 11))
    assert kept.tolist() == [False, True, True]


def test_hits_are_the_share_of_searches_that_find_their_list():
    kept = np.array([True, False, True])
    assert hit_probability(kept, [6, 3, 1]) == pytest.approx(0.7)
    assert np.isnan(hit_probability(kept, [0, 0, 0]))


def test_keywords_that_do_not_belong_together_are_refused():
    with pytest.raises(ParameterError, match="one number of documents"):
        choose_lists([1, 2], [1], CacheLimits())
    with pytest.raises(ParameterError, match="not negative"):
        choose_lists([1], [-1], CacheLimits())
    with pytest.raises(ParameterError, match="for each keyword"):
        hit_probability(np.array([True]), [1, 2])
    with pytest.raises(ParameterError, match="memory_bytes"):
        CacheLimits(memory_bytes=0)
