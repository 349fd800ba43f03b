"""Invariants of power and risk on random trees, and every algorithm against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ups_cases import Hits, antichain, case_of, random_case

from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.profile import exact as exact_module
from aidos.rooms.shield.profile.exact import exact, ratio
from aidos.rooms.shield.profile.prune import (
    discriminating_power,
    greedy_dp,
    greedy_il,
    profile_risk,
    ratio_greedy,
    stand,
    trace,
)
from aidos.rooms.shield.profile.seed import SeedProfile, power_of_query

ALGORITHMS = [ratio, ratio_greedy, greedy_il, greedy_dp, exact]
SLIGHT = 1e-9
seeds = st.integers(0, 10**9)


def draws_of(number):
    return np.random.default_rng(number)


def random_shown(draws, seed):
    alive = draws.random(len(seed)) < 0.75
    alive[0] = True
    for row in range(1, len(seed)):
        alive[row] &= alive[seed.arrays.parents[row]]
    return alive


def names_of(case, seed, alive):
    return frozenset(case.names(seed, np.flatnonzero(alive)))


@given(seeds)
def test_power_and_risk_are_the_plain_formulas(number):
    draws = draws_of(number)
    case = random_case(draws, topics=18, asked=6)
    seed = case.seed
    assert names_of(case, seed, np.ones(len(seed), bool)) == case.plain.seed()
    for _ in range(4):
        alive = random_shown(draws, seed)
        shown = names_of(case, seed, alive)
        if not seed.is_empty:
            assert discriminating_power(seed, alive) == pytest.approx(case.plain.power(shown), abs=SLIGHT)
        for form in ("excess", "paper"):
            assert profile_risk(seed, alive, form) == pytest.approx(case.plain.risk(shown, form), abs=SLIGHT)


@given(seeds)
def test_the_power_of_a_query_is_that_of_an_unpruned_tree_of_its_topics(number):
    case = random_case(draws_of(number), topics=20, asked=5)
    # Somebody whose documents are the relevances has just these preferences.
    relevances = dict(case.plain.relevances)
    alike = case_of(case.plain.parents, case.plain.supports, relevances, {}, relevances)
    assert power_of_query(case.tree, case.hits) == pytest.approx(alike.plain.power(alike.plain.seed()), abs=SLIGHT)


@given(seeds)
def test_no_prune_raises_power_or_excess_risk_and_the_losses_sum_to_all(number):
    draws = draws_of(number)
    case = random_case(draws, topics=40, asked=12)
    seed = case.seed
    last = stand(seed, np.ones(len(seed), bool))
    assert 0 <= last.power <= 1 + SLIGHT
    found = greedy_il(seed, 0.0).steps.tolist()
    rest = [row for row in range(len(seed) - 1, 0, -1) if row not in found]
    for now in trace(seed, found + rest):
        assert now.power <= last.power + SLIGHT
        assert now.risk <= last.risk + SLIGHT
        last = now
    if not seed.is_empty:
        assert last == pytest.approx((0.0, 0.0), abs=SLIGHT)


@given(seeds)
def test_the_whole_profile_has_risk_one(number):
    case = random_case(draws_of(number), topics=25)
    # A query about every lowest held topic has the whole profile as its seed.
    held = set(case.held.places.tolist())
    inner = {int(case.tree.parents[place]) for place in held}
    lowest = np.array(sorted(held - inner), np.int32)
    seed = SeedProfile.of(case.tree, case.held, case.layer, Hits(lowest, np.ones(len(lowest))))
    if seed.sensitivity - seed.costs[0] > SLIGHT:
        assert profile_risk(seed, np.ones(len(seed), bool)) == pytest.approx(1.0)
    else:
        assert profile_risk(seed, np.ones(len(seed), bool)) == 0


@settings(max_examples=40)
@given(seeds, st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.6]), st.sampled_from(["excess", "paper"]))
def test_answers_keep_the_limit_or_are_the_root_and_none_beats_the_best_of_all_subtrees(number, limit, form):
    case = random_case(draws_of(number), topics=13, asked=5)
    seed = case.seed
    if seed.is_empty:
        return
    best = case.plain.best(limit, form)
    assert exact(seed, limit, form).power == pytest.approx(best, abs=SLIGHT)
    assert ratio(seed, limit, form).power == pytest.approx(best, abs=SLIGHT)
    for prune in ALGORITHMS:
        found = prune(seed, limit, form)
        assert found.is_root or found.risk <= limit + SLIGHT
        assert found.power <= best + SLIGHT
        assert found.alive[0]
        assert all(found.alive[seed.arrays.parents[row]] for row in np.flatnonzero(found.alive)[1:])


@settings(max_examples=40)
@given(seeds, st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from(["excess", "paper"]))
def test_greedy_by_power_and_by_loss_walk_the_same_way_up_to_ties(number, limit, form):
    seed = random_case(draws_of(number), topics=40, asked=12).seed
    by_power, by_loss = greedy_dp(seed, limit, form), greedy_il(seed, limit, form)
    both = zip(trace(seed, by_power.steps, form), trace(seed, by_loss.steps, form), strict=False)
    assert all(one.power == pytest.approx(other.power, abs=SLIGHT) for one, other in both)
    assert by_power.power == pytest.approx(by_loss.power, abs=SLIGHT)


@given(seeds, st.sampled_from([0.125, 0.5, 2.0, 64.0]))
def test_scaling_supports_sensitivities_and_relevances_changes_nothing(number, factor):
    # Powers of two leave every digit as it is: by any other factor, rounding may break a tie the other way.
    case = random_case(draws_of(number), topics=25)
    plain = case.plain

    def scaled(values):
        return {name: value * factor for name, value in values.items()}

    other = case_of(
        plain.parents, scaled(plain.supports), scaled(plain.documents), scaled(plain.sensitivities),
        scaled(plain.relevances),
    )  # fmt: skip
    for prune in (ratio_greedy, greedy_il):
        one, two = prune(case.seed, 0.1), prune(other.seed, 0.1)
        assert (two.power, two.risk) == pytest.approx((one.power, one.risk), abs=1e-7)


@given(seeds)
def test_names_do_not_matter(number):
    case = random_case(draws_of(number), topics=25)
    plain = case.plain

    def renamed(values):
        return {f"x-{name}": value for name, value in values.items()}

    parents = {f"x-{name}": f"x-{above}" if above else "" for name, above in plain.parents.items()}
    other = case_of(
        parents, renamed(plain.supports), renamed(plain.documents), renamed(plain.sensitivities),
        renamed(plain.relevances),
    )  # fmt: skip
    assert ratio_greedy(case.seed, 0.1).alive.tolist() == ratio_greedy(other.seed, 0.1).alive.tolist()


@pytest.mark.parametrize(("topics", "asked"), [(30, 8), (60, 15)])
def test_ratio_keeps_95_percent_of_the_best_where_the_papers_greedy_keeps_less(topics, asked):
    shares, by_loss = [], []
    for limit in (0.05, 0.1, 0.2, 0.3):
        for number in range(100):
            seed = random_case(draws_of(1000 + number), topics=topics, asked=asked).seed
            best = exact(seed, limit)
            if best.steps.size and best.power > SLIGHT:
                shares.append(ratio_greedy(seed, limit).power / best.power)
                by_loss.append(greedy_il(seed, limit).power / best.power)
    assert len(shares) > 300
    assert max(shares) <= 1 + SLIGHT
    assert np.mean(shares) >= 0.97
    assert 0.62 <= np.mean(by_loss) <= 0.88


@pytest.mark.parametrize("form", ["excess", "paper"])
def test_what_is_called_ratio_is_the_best_up_to_20_topics_where_the_greedy_alone_is_far_from_it(form):
    shares, greedy = [], []
    for number in range(150):
        draws = draws_of(number)
        asked = int(draws.integers(3, 21))
        seed = random_case(draws, topics=int(draws.integers(2 * asked, 100)), asked=asked, held=0.9).seed
        limit = float(draws.choice([0.0, 0.02, 0.05, 0.1, 0.2, 0.3]))
        best = exact(seed, limit, form).power
        if best > SLIGHT:
            shares.append(ratio(seed, limit, form).power / best)
            greedy.append(ratio_greedy(seed, limit, form).power / best)
    assert len(shares) > 100
    assert min(shares) == pytest.approx(1)  # The worst of them.
    assert min(greedy) < 0.9


def test_ratio_keeps_what_the_greedy_found_where_the_search_would_be_long(monkeypatch):
    seed = random_case(draws_of(3), topics=60, asked=20).seed
    monkeypatch.setattr(exact_module, "FEW_BRANCHES", 1)
    assert ratio(seed, 0.1).alive.tolist() == ratio_greedy(seed, 0.1).alive.tolist()


def test_trees_of_one_branch_and_roots_above_all_are_searched_rightly():
    # All topics of the query lie below one topic: cutting on the way to it changes the common topic as well.
    parents = {"root": "", "other": "root", "a": "root", "b": "a", "beside": "a", "c": "b", "d": "b", "e": "b"}
    supports = {"other": 5.0, "beside": 1.0, "c": 1.0, "d": 2.0, "e": 1.0}
    case = case_of(parents, supports, {"c": 2, "d": 1, "other": 3}, {"b": 1.0, "other": 2.0}, {"c": 1.0, "d": 1.0})
    seed = case.seed
    assert case.names(seed, [seed.arrays.anchor]) == ["b"]
    for limit in (0.0, 0.05, 0.2, 0.3, 0.6):
        best = case.plain.best(limit, "excess")
        assert exact(seed, limit).power == pytest.approx(best)
        assert ratio_greedy(seed, limit).power == pytest.approx(best)


def test_a_query_about_the_root_has_no_power_and_no_risk():
    case = case_of({"root": "", "a": "root", "b": "root"}, {"a": 1.0, "b": 1.0}, {"a": 2}, {"a": 1.0}, {"root": 1.0})
    assert case.seed.is_empty
    assert stand(case.seed, np.ones(1, bool)) == (0.0, 0.0)
    assert power_of_query(case.tree, case.hits) == 0
    assert power_of_query(case.tree, Hits(np.zeros(0, np.int32), np.zeros(0))) == 0


def test_a_sensitive_root_leaves_nothing_to_give_away():
    case = case_of({"root": "", "a": "root", "b": "root"}, {"a": 1.0, "b": 1.0}, {"a": 2}, {"root": 1.0}, {"a": 1.0})
    assert profile_risk(case.seed, np.ones(2, bool)) == 0
    assert ratio_greedy(case.seed, 0.0).alive.all()


@given(seeds)
def test_what_a_session_hid_is_pruned_from_the_beginning(number):
    draws = draws_of(number)
    case = random_case(draws, topics=25)
    seed = case.seed
    alive = random_shown(draws, seed)
    less = seed.without(set(seed.places[~alive].tolist()))
    assert less.places.tolist() == seed.places[alive].tolist()
    for form in ("excess", "paper"):
        assert stand(less, np.ones(len(less), bool), form) == pytest.approx(stand(seed, alive, form), abs=SLIGHT)
    found = exact(less, 0.1)
    rows = np.flatnonzero(alive)[found.alive]
    shown = np.zeros(len(seed), bool)
    shown[rows] = True
    assert stand(seed, shown) == pytest.approx((found.power, found.risk), abs=SLIGHT)


def test_the_exact_search_refuses_what_it_cannot_finish(monkeypatch):
    names = [f"t{i}" for i in range(50)]
    parents = {"root": "", **dict.fromkeys(names, "root")}
    ones = dict.fromkeys(names, 1.0)
    with pytest.raises(ParameterError, match="at most 40 topics of a query, this one has 50"):
        exact(case_of(parents, ones, ones, {"t0": 1.0}, ones).seed, 0.1)
    monkeypatch.setattr(exact_module, "MOST_BRANCHES", 5)
    with pytest.raises(ParameterError, match="gave up after 5 branches"):
        exact(random_case(draws_of(3), topics=60, asked=20).seed, 0.1)


@pytest.mark.parametrize(
    ("places", "scores", "words"),
    [
        ([1, 1], [1.0, 1.0], "twice, or above"),
        ([0, 1], [1.0, 1.0], "twice, or above"),
        ([99], [1.0], "places must be from 0 to 2"),
        ([1], [float("nan")], "above 0 and finite"),
        ([1, 2], [1.0], "2 topics but 1 relevances"),
    ],
)
def test_impossible_topics_of_a_query_are_refused(places, scores, words):
    case = case_of({"root": "", "a": "root", "b": "root"}, {}, {"a": 1.0}, {}, {"a": 1.0})
    with pytest.raises(InputError, match=words):
        power_of_query(case.tree, Hits(np.array(places, np.int32), np.array(scores)))


def test_the_cases_are_what_they_claim():
    draws = draws_of(1)
    above = [-1, 0, 0, 1, 1, 2]
    for _ in range(20):
        chosen = antichain(draws.permutation(range(1, 6)).tolist(), above, 4)
        assert not ({1} <= set(chosen) and {3, 4} & set(chosen))
        assert not {2, 5} <= set(chosen)
