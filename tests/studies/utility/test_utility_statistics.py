"""Distances of a published histogram from the true one, against sums in plain Python."""

from math import isclose, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.studies.utility.statistics import Compared, count_distribution, spacing

BOTH = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 60)), min_size=1, max_size=15).map(
    lambda pairs: sorted(pairs, key=lambda pair: -pair[0])
)


def close(one, other):
    return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


@given(BOTH, st.integers(1, 20))
def test_every_measure_is_its_sum(pairs, top):
    true, published = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    compared = Compared(true, published)
    all_true, all_published = sum(true), sum(published)
    p = [value / all_true for value in true]
    q = [value / all_published if all_published else 0.0 for value in published]
    first = range(min(top, len(true)))
    assert compared.distinct == sum(value > 0 for value in published)
    assert close(compared.coverage(top), sum(published[i] > 0 for i in first) / len(first))
    assert close(compared.l1(top), sum(abs(p[i] - q[i]) for i in first) / len(first))
    some = [true[i] for i in first], [max(published[i], 0.5) for i in first]
    kl = sum(t / sum(some[0]) * log((t / sum(some[0])) / (h / sum(some[1]))) for t, h in zip(*some, strict=True))
    assert isclose(compared.kl(top), kl, rel_tol=1e-7, abs_tol=1e-9)
    off = [t - share * all_true for t, share in zip(true, q, strict=True)]
    found = {one.measure: one.value for one in compared.measured((top,), has_counts=True) if one.top is None}
    if all_published:
        assert close(found["difference"], sum(map(abs, off)) / len(off))
        assert close(found["rms"], sqrt(sum(value**2 for value in off) / len(off)))
        assert close(found["total_variation"], sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2)
    else:
        assert found["total_variation"] == 1
        assert "difference" not in found


def test_the_truth_itself_is_no_distance_away():
    compared = Compared([9, 4, 1], [9, 4, 1])
    found = {(one.measure, one.top): one.value for one in compared.measured((1, 3, 50), has_counts=True)}
    assert found["coverage", 3] == 1
    assert found["missing", 3] == 0
    assert {value for (name, _), value in found.items() if name in {"l1", "kl", "difference", "rms"}} == {0}
    assert not any(top == 50 for _, top in found)


def test_sets_without_counts_have_no_distances_of_counts():
    names = {one.measure for one in Compared([3, 2], [1, 0]).measured((1, 2), has_counts=False)}
    assert names == {"distinct", "coverage", "missing"}


def test_items_must_be_in_the_order_of_their_counts():
    with pytest.raises(ParameterError, match="falling"):
        Compared([1, 2], [0, 0])
    with pytest.raises(ParameterError, match="two numbers"):
        Compared([2, 1], [0])


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=60))
def test_a_distribution_has_every_item_once(counts):
    edges = spacing(max(counts))
    widths = dict(zip(edges[:-1].tolist(), np.diff(edges).tolist(), strict=True))
    found = count_distribution(counts)
    assert round(sum(items * widths[start] for start, items in found)) == len(counts)
    assert all(items > 0 for _, items in found)
    assert edges[0] == 1
    assert edges[-1] > max(counts)


def test_nothing_has_no_distribution():
    assert count_distribution([]) == []
    assert count_distribution([0, -3]) == []
