"""The eavesdropper: beliefs by hand, measures by definition, and what limits and memory do to her success."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ups_cases import Hits, antichain, case_of, golden

from aidos.core.profile import SessionMemory
from aidos.errors import InputError
from aidos.rooms.shield.profile.adversary import Eavesdropper, Sight, guess, reappeared
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile


def places(case, *names):
    return np.array([case.tree.places[name] for name in names], np.int32)


def test_beliefs_by_hand():
    case = golden()
    wanted = places(case, "Figure", "IceSkating", "EaglesNFL", "Depression", "Arts")
    shown = places(case, "root", "Arts", "Sports")
    seen = Eavesdropper().beliefs(case.tree, [Sight(hits=case.hits, shown=shown)], wanted)
    # Below Sports the query asks for EaglesNFL (support 3) and Figure (support 2).
    assert seen == pytest.approx([2 / 5, 2 / 5, 3 / 5, 0, 1])
    alone = Eavesdropper().beliefs(case.tree, [Sight(hits=case.hits)], wanted)
    assert alone == pytest.approx([2 / 7, 2 / 7, 3 / 7, 0, 2 / 7])
    deaf = Eavesdropper(reads_queries=False).beliefs(case.tree, [Sight(hits=case.hits, shown=shown)], wanted)
    # Sports is a leaf with support 8; beside Arts and Sports the root has 8 left, Depression being 4 of them.
    assert deaf == pytest.approx([2 / 8, 4 / 8, 3 / 8, 4 / 8, 1])


def test_evidence_of_many_sessions_adds_up_and_nothing_is_forgotten():
    case = golden()
    wanted = places(case, "Figure", "Arts")
    veiled, plain = Sight(hits=case.hits), Sight(hits=case.hits, shown=places(case, "root", "Arts"))
    twice = Eavesdropper().beliefs(case.tree, [veiled, veiled], wanted)
    assert twice == pytest.approx([1 - (5 / 7) ** 2] * 2)
    both = Eavesdropper().beliefs(case.tree, [plain, veiled], wanted)
    assert both[1] == 1
    assert Eavesdropper().beliefs(case.tree, [], wanted).tolist() == [0, 0]


@given(st.integers(0, 10**9))
def test_measures_follow_their_definitions(number):
    draws = np.random.default_rng(number)
    beliefs = draws.integers(0, 4, 12) / 4
    held, shown = draws.random(12) < 0.4, draws.random(12) < 0.2
    shown &= held
    found = guess(beliefs, held, shown)
    pairs = [(x > y) + (x == y) / 2 for x in beliefs[held] for y in beliefs[~held]]
    assert found.ranking == pytest.approx(np.mean(pairs) if pairs else np.nan, nan_ok=True)
    hidden = [i for i in range(12) if not shown[i]]
    top = [i for i in hidden if beliefs[i] == max(beliefs[hidden])]
    right = np.mean(held[top]) if held[hidden].any() else np.nan
    assert found.right == pytest.approx(right, nan_ok=True)
    best = [i for i in range(12) if beliefs[i] == max(beliefs)]
    assert found.first == pytest.approx(np.mean(held[best]) if held.any() else np.nan, nan_ok=True)
    assert found.blind == pytest.approx(held[hidden].mean() if held[hidden].any() else np.nan, nan_ok=True)
    if held.any():
        drawn = []
        for _ in range(400):
            order = sorted(range(12), key=lambda i: (-beliefs[i], draws.random()))
            drawn.append(held[order[: held.sum()]].mean())
        assert found.precision == pytest.approx(np.mean(drawn), abs=0.13)
        assert found.shown == pytest.approx(shown[held].mean())


def test_measures_refuse_what_does_not_fit():
    with pytest.raises(InputError):
        guess(np.zeros(3), np.zeros(2, bool), np.zeros(3, bool))


def test_topics_hidden_before_they_were_shown_are_found():
    seeds = [np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([0, 3])]
    assert reappeared(seeds, [np.array([0, 1]), np.array([0, 2]), np.array([0, 3])]).tolist() == [2]


def sensitive_people(number):
    """A searcher on a tree of 6 branches of 6 topics, of which the last 3 in each branch count as sensitive."""
    draws = np.random.default_rng(number)
    leaves = [f"b{branch}-{leaf}" for branch in range(6) for leaf in range(6)]
    parents = {"root": "", **{f"b{branch}": "root" for branch in range(6)}, **{leaf: leaf[:2] for leaf in leaves}}
    documents = {leaf: float(draws.integers(1, 9)) for leaf in leaves if draws.random() < 0.5}
    candidates = [leaf for leaf in leaves if int(leaf[-1]) > 2]
    sensitivities = {leaf: 1.0 for leaf in candidates if leaf in documents}
    case = case_of(parents, {}, documents, sensitivities, {leaves[0]: 1.0})
    above = case.tree.parents.tolist()
    queries = []
    for _ in range(5):
        lowest = [place for place in draws.permutation(range(1, len(above))).tolist() if case.tree.sizes[place] == 1]
        chosen = antichain(lowest, above, 8)
        queries.append(Hits(np.array(chosen, np.int32), draws.uniform(0.3, 1, 8)))
    return case, places(case, *candidates), queries


def attack(limit, sessions, remembers=False):
    """Means over searchers of what was guessed."""
    outcomes = []
    for number in range(40):
        case, candidates, queries = sensitive_people(number)
        memory, sights = SessionMemory() if remembers else None, []
        for hits in queries[:sessions]:
            data = QueryAndProfile(tree=case.tree, held=case.held, layer=case.layer, hits=hits, memory=memory)
            decision = ProfileGeneralisation(risk_limit=limit, distinct_from=1.0).run(data)
            memory = decision.remembered(memory) if memory is not None else None
            sights.append(Sight(hits=hits, shown=decision.sent))
        beliefs = Eavesdropper().beliefs(case.tree, sights, candidates)
        shown = np.isin(candidates, np.concatenate([sight.shown for sight in sights]))
        outcomes.append(guess(beliefs, case.held.supports[candidates] > 0, shown))
    return {name: np.nanmean([getattr(one, name) for one in outcomes]) for name in ("ranking", "shown", "precision")}


def test_success_rises_with_the_limit_and_with_sessions_and_memory_holds_it_down():
    tight, loose, free = (attack(limit, 1) for limit in (0.02, 0.1, 1.0))
    assert tight["shown"] < loose["shown"] < free["shown"]
    assert tight["ranking"] < loose["ranking"] <= free["ranking"]
    many, remembered = attack(0.1, 5), attack(0.1, 5, remembers=True)
    # Each session keeps the limit; together they show several times as much as one does.
    assert many["shown"] > 2 * loose["shown"]
    assert remembered["shown"] < many["shown"]
    assert remembered["ranking"] < many["ranking"]
