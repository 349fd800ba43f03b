import math
import sys

import ir_measures
import numpy as np
import pytest

from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.rooms.fairness.measures import judge
from oracles.fairness import served_lists

JUDGEMENTS = [("q1", "a", 3), ("q1", "b", 0), ("q1", "c", 1), ("q2", "x", 1)]


def test_closed_forms():
    found = judge([("q1", ["b", "a", "c"])], JUDGEMENTS, ("nDCG@10", "P@2", "AP", "RR"))
    best = 3 + 1 / math.log2(3)
    assert found == pytest.approx(
        {"nDCG@10": (3 / math.log2(3) + 1 / 2) / best, "P@2": 1 / 2, "AP": (1 / 2 + 2 / 3) / 2, "RR": 1 / 2}
    )


def test_a_query_that_is_served_again_counts_again():
    served = [("q1", ["a", "b"]), ("q1", ["b", "a"]), ("q1", ["b", "a"]), ("q2", ["x"])]
    assert judge(served, JUDGEMENTS, ["RR"]) == {"RR": pytest.approx((1 + 0.5 + 0.5 + 1) / 4)}


def test_unjudged_queries_are_left_out_and_unserved_ones_are_no_zeros():
    assert judge([("q2", ["x"]), ("q9", ["a"])], JUDGEMENTS, ["P@1"]) == {"P@1": 1.0}


def test_the_order_served_decides_not_the_names_of_equals():
    # Tools that sort by score and then by name would judge both orders alike.
    for order, expected in ((["a", "z"], 1.0), (["z", "a"], 0.5)):
        assert judge([("q", order)], [("q", "a", 1)], ["RR"]) == {"RR": expected}


def test_long_rankings_keep_their_order():
    names = [f"d{number}" for number in range(3000)]
    assert judge([("q", names)], [("q", names[-1], 1)], ["RR"]) == {"RR": pytest.approx(1 / 3000)}


def test_the_means_are_those_of_ir_measures():
    rng = np.random.default_rng(2)
    judgements = [(f"q{q}", f"d{d}", int(rng.integers(0, 4))) for q in range(12) for d in range(20)]
    judgements.append(("q0", "d99", 1))
    served = [(f"q{q}", [f"d{d}" for d in rng.permutation(20)]) for q in range(12)]
    measures = ("nDCG@10", "P@10", "AP", "P(rel=2)@5", "R@5")
    qrels = [ir_measures.Qrel(*row) for row in judgements]
    run = [ir_measures.ScoredDoc(q, d, 100.0 - place) for q, ids in served for place, d in enumerate(ids)]
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(text) for text in measures], qrels, run)
    ours = judge(served, judgements, measures)
    assert ours == pytest.approx({text: theirs[ir_measures.parse_measure(text)] for text in measures})


def test_rows_of_a_run_become_lists_by_position():
    rows = [("q1", "b", 2), ("q2", "x", 1), ("q1", "c", 10), ("q1", "a", 1)]
    assert list(served_lists(rows)) == [("q1", ["a", "b", "c"]), ("q2", ["x"])]
    with pytest.raises(InputError, match="one position"):
        list(served_lists([("q1", "a", 1), ("q1", "b", 1)]))


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(InputError, match="no served ranking"):
        judge([("q9", ["a"])], JUDGEMENTS)
    with pytest.raises(InputError, match="served ranking 2: a result stands in it twice"):
        judge([("q1", ["a"]), ("q1", ["a", "a"])], JUDGEMENTS)


@pytest.mark.parametrize(
    "measures", [["nDGC@10"], ["nDCG@"], ["P@x"], [], ["AP", "AP"], ["alpha_nDCG@10"], ["AP", "MAP"]]
)
def test_measures_that_are_none_are_refused(measures):
    with pytest.raises(ParameterError):
        judge([("q1", ["a"])], JUDGEMENTS, measures)


def test_without_ir_measures_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtraError) as caught:
        judge([("q1", ["a"])], JUDGEMENTS)
    assert caught.value.extra == "fairness"
