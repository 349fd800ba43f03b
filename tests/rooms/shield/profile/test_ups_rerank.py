"""Re-ranking, site rules and their exports, and measures of rankings."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ups_cases import Hits, golden

from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.profile.rerank import Results, borda_points, leaves_of, rerank, topic_relevances, user_scores
from aidos.rooms.shield.profile.siterules import SiteRules
from aidos.studies.ups.ranking import average_precision, average_rank, rank_scoring, wanted_ranks

RESULTS = Results(object_ids=("a", "b", "c", "d"), sites=("a.example", "www.b.example", "c.example", "d.example"))


def places(case, *names):
    return np.array([case.tree.places[name] for name in names], np.int32)


def test_scores_add_up_relevances_at_and_below_the_leaves_by_the_searchers_documents():
    case = golden()
    leaves = leaves_of(case.tree, places(case, "root", "Arts", "Music", "Sports"))
    assert [case.tree.ids[place] for place in leaves] == ["Music", "Sports"]
    found = [
        Hits(places(case, "EaglesBand", "Jazz", "Diet"), np.array([2.0, 1.0, 1.0])),
        Hits(places(case, "EaglesNFL", "Music"), np.array([3.0, 1.0])),
        Hits(places(case), np.zeros(0)),
    ]
    relevances = topic_relevances(case.tree, leaves, found)
    assert relevances.tolist() == [[0.75, 0.0], [0.25, 0.75], [0.0, 0.0]]
    assert user_scores(case.held, leaves, relevances) == pytest.approx([0.75 * 6, 0.25 * 6 + 0.75 * 6, 0])


def test_the_bare_root_says_nothing():
    case = golden()
    leaves = leaves_of(case.tree, np.zeros(1, np.int32))
    assert not leaves.size
    scores = user_scores(
        case.held, leaves, topic_relevances(case.tree, leaves, [Hits(places(case, "Jazz"), np.ones(1))])
    )
    assert scores.tolist() == [0.0]


def test_borda_by_hand():
    assert borda_points(np.array([5.0, 1.0, 1.0, 9.0])).tolist() == [2.0, 0.5, 0.5, 3.0]
    # Engine a b c d has 3 2 1 0; the searcher's d c b a has 0 1 2 3: all equal, so the engine's order stays.
    assert rerank(RESULTS, np.array([1.0, 2, 3, 4])).object_ids == ("a", "b", "c", "d")
    # The searcher wants d: 0 + 3 against a 3 + 1, b 2 + 1, c 1 + 1.
    assert rerank(RESULTS, np.array([0.0, 0, 0, 1])).object_ids == ("a", "b", "d", "c")
    assert rerank(RESULTS, np.array([0.0, 0, 0, 1]), weight=1).object_ids == ("d", "a", "b", "c")


@given(st.lists(st.floats(0, 9), min_size=1, max_size=20), st.floats(0, 1))
def test_points_are_shared_out_and_equal_scores_keep_the_services_order(scores, weight):
    count = len(scores)
    assert borda_points(np.array(scores)).sum() == pytest.approx(count * (count - 1) / 2)
    results = Results(object_ids=tuple(map(str, range(count))))
    found = rerank(results, np.array(scores), weight=weight)
    assert sorted(found.object_ids) == sorted(results.object_ids)
    assert rerank(results, np.full(count, 2.0), weight=0.5).object_ids == results.object_ids
    assert rerank(results, np.array(scores), weight=0).object_ids == results.object_ids


def test_rules_block_and_move_with_all_subdomains():
    rules = SiteRules(blocked={"a.example"}, boosts={"d.example": 10}, downranks={"b.example": 10})
    assert rerank(RESULTS, rules=rules).object_ids == ("d", "c", "b")
    assert rules.is_blocked("deep.a.example")
    assert not rules.is_blocked("aa.example")
    assert rules.strength("WWW.B.example.") == -10
    narrow = SiteRules(boosts={"b.example": 2}, downranks={"www.b.example": 3})
    assert narrow.strength("www.b.example") == -3
    assert narrow.strength("x.b.example") == 2


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"blocked": {"https://a.example/x"}}, "not name a site"),
        ({"blocked": {"a.example"}, "boosts": {"a.example": 1}}, "one rule.*a.example"),
        ({"boosts": {"a.example": 11}}, "from 1 to 10"),
        ({"downranks": {"a.example": 0}}, "from 1 to 10"),
    ],
)
def test_impossible_rules_are_refused(rules, words):
    with pytest.raises(ParameterError, match=words):
        SiteRules(**rules)


def test_rules_are_exported_for_goggles_and_searxng():
    rules = SiteRules(blocked={"x.example"}, boosts={"b.example": 3, "a.example": 1}, downranks={"d.example": 2})
    assert rules.as_goggles("Mine").splitlines() == [
        "! name: Mine",
        "! description: Mine",
        "! public: false",
        "",
        "$discard,site=x.example",
        "$boost=1,site=a.example",
        "$boost=3,site=b.example",
        "$downrank=2,site=d.example",
    ]
    exported = rules.as_searxng()
    assert exported.splitlines()[:3] == ["hostnames:", "  remove:", "    - '(.*\\.)?x\\.example$'"]
    assert [line.strip() for line in exported.splitlines() if line.endswith(":")] == [
        "hostnames:", "remove:", "high_priority:", "low_priority:",
    ]  # fmt: skip
    pattern = re.search("'(.*x.*)'", exported)[1]
    assert re.match(pattern, "www.x.example")
    assert not re.match(pattern, "xx.example")
    assert SiteRules().as_searxng() == "hostnames: {}\n"


def test_lists_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="duplicates"):
        Results(object_ids=("a", "a"))
    with pytest.raises(InputError, match="1 results but 2 sites"):
        Results(object_ids=("a",), sites=("x.example", "y.example"))
    with pytest.raises(InputError, match="as many finite scores"):
        rerank(RESULTS, np.array([1.0, float("nan"), 0, 0]))
    with pytest.raises(ParameterError, match="weight"):
        rerank(RESULTS, np.zeros(4), weight=2)
    with pytest.raises(InputError, match="leaves"):
        user_scores(golden().held, np.array([1, 2], np.int32), np.zeros((3, 5)))


def test_measures_by_hand():
    ranks = wanted_ranks(["x", "a", "y", "b"], {"a", "b", "absent"})
    assert ranks.tolist() == [2, 4]
    assert average_precision(ranks) == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert average_rank(ranks) == 3
    assert rank_scoring(ranks) == pytest.approx((2**-0.25 + 2**-0.75) / (1 + 2**-0.25))


@given(st.sets(st.integers(1, 60), min_size=1))
def test_measures_are_best_at_the_top_and_only_there(ranks):
    ordered = sorted(ranks)
    at_top = ordered == list(range(1, len(ordered) + 1))
    assert (average_precision(ordered) == pytest.approx(1)) == at_top
    assert (rank_scoring(ordered) == pytest.approx(1)) == at_top
    assert average_precision([rank + 1 for rank in ordered]) < average_precision(ordered) + 1e-12
    assert rank_scoring([rank + 1 for rank in ordered]) < rank_scoring(ordered)


@pytest.mark.parametrize("ranks", [[], [0], [2, 2]])
def test_impossible_ranks_are_refused(ranks):
    with pytest.raises(ParameterError):
        average_precision(ranks)
    with pytest.raises(ParameterError):
        rank_scoring(ranks)


def test_the_half_life_is_above_one():
    with pytest.raises(ParameterError, match="half_life"):
        rank_scoring([1], half_life=1)
