from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from audit_pairs import draw_pairs, found_share, small_pairs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize

from aidos.errors import InputError, ParameterError
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.densities import log_mean_personalised, log_vanilla
from aidos.rooms.audit.estimator import ProfileLearner
from aidos.rooms.audit.inference import MOST_CONCENTRATED, Ascent, LearningSettings, climb, infer_profile
from aidos.rooms.audit.learning import fit_concentration, learn_profile
from aidos.rooms.audit.shifts import rank_shift
from aidos.studies.audit.engines import weights_without_switch
from aidos.studies.audit.surrogate import HiddenProfile, sample_audit
from oracles.audit import plain_elbo, plain_infer, plain_log_vanilla

LEARNERS = [infer_profile, learn_profile]


def never_falls(bounds):
    return all(later >= earlier - 1e-9 * max(1, abs(earlier)) for earlier, later in pairwise(bounds))


@settings(max_examples=25)
@given(small_pairs(), st.floats(0, 1), st.floats(0.1, 20), st.floats(0.01, 1), st.floats(0.2, 5))
def test_the_bound_never_falls(pairs, mix, concentration, spread, deviation):
    chosen = LearningSettings(mix=mix, concentration=concentration, spread=spread, prior_deviation=deviation, rounds=25)
    for learn in LEARNERS:
        found = learn(pairs, chosen)
        assert never_falls(found.elbo)
        assert 0 <= found.mix <= 1
        assert 0 < found.concentration <= MOST_CONCENTRATED
        assert 0 < found.rate < 1
        assert ((found.switches >= 0) & (found.switches <= 1)).all()


@settings(max_examples=40)
@given(small_pairs(), st.integers(0, 1000))
def test_each_update_alone_never_lowers_the_bound(pairs, seed):
    generator = np.random.default_rng(seed)
    ascent = Ascent(
        pairs=pairs,
        settings=LearningSettings(),
        counts=generator.integers(0, 3, len(pairs)).astype(float),
        weights=generator.normal(0, 2, pairs.topic_count),
        mix=0.7,
        concentration=1.5,
    )
    bounds = [ascent.elbo()]
    for _ in range(3):
        ascent.update_switches()
        bounds.append(ascent.elbo())
        ascent.update_weights(with_mix=bool(seed % 2))
        bounds.append(ascent.elbo())
    assert never_falls(bounds)


@settings(max_examples=30)
@given(small_pairs())
def test_the_bound_equals_the_one_written_out(pairs):
    chosen = LearningSettings(spread=0.3, prior_deviation=1.5, personalised_before=2.0, vanilla_before=3.0)
    found = infer_profile(pairs, chosen)
    lifted = log_mean_personalised(pairs, pairs.maps.dot(found.weights), found.mix, chosen.spread).values
    kept = log_vanilla(pairs, found.concentration).values
    plain = plain_elbo(
        lifted,
        kept,
        found.switches,
        found.weights,
        (found.personalised, found.vanilla),
        spread=0.3,
        prior_deviation=1.5,
        first=2.0,
        second=3.0,
    )
    assert found.elbo[-1] == pytest.approx(plain, rel=1e-9, abs=1e-7)


def test_weights_are_where_another_optimiser_ends():
    pairs = draw_pairs(np.random.default_rng(3), queries=40, topics=4, shortest=3)
    found = infer_profile(pairs, LearningSettings(tolerance=1e-12))

    def loss(weights):
        values = log_mean_personalised(pairs, pairs.maps.dot(weights), found.mix, 0.1).values
        return weights @ weights / 8 - found.switches @ values

    best = minimize(loss, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9, "maxiter": 5000})
    assert found.weights == pytest.approx(best.x, abs=2e-3)


def test_inference_ends_where_the_plain_loops_end():
    pairs = sample_audit(HiddenProfile(topics=4, favoured=1), np.random.default_rng(7), queries=25, length=6).pairs
    chosen = LearningSettings(tolerance=1e-12)
    found = infer_profile(pairs, chosen)
    ranks = [pairs.ranks[start:stop].tolist() for start, stop in pairwise(pairs.starts)]
    maps = [[pairs.maps.row(item).tolist() for item in pairs.lists(query)[1]] for query in range(len(pairs))]
    weights, switches = plain_infer(ranks, maps, chosen, rounds=15)
    assert found.weights == pytest.approx(weights, abs=2e-3)
    assert found.switches == pytest.approx(switches, abs=2e-3)


def test_concentration_is_where_the_plain_loops_are_largest():
    pairs = sample_audit(
        HiddenProfile(topics=3, rate=0.0, concentration=0.8), np.random.default_rng(1), queries=60
    ).pairs
    found = fit_concentration(pairs, np.ones(len(pairs)))
    lists = [pairs.ranks[start:stop].tolist() for start, stop in pairwise(pairs.starts)]
    likelihoods = {
        at: sum(plain_log_vanilla(ranks, at) for ranks in lists) for at in (found - 0.01, found, found + 0.01)
    }
    assert max(likelihoods, key=likelihoods.get) == found


def test_counting_a_query_twice_is_having_it_twice():
    pairs = draw_pairs(np.random.default_rng(8), queries=20, shortest=3)
    doubled = pairs.take(np.repeat(np.arange(20), 2))
    for learn in LEARNERS:
        counted = learn(pairs, LearningSettings(rounds=20), counts=np.full(20, 2.0))
        repeated = learn(doubled, LearningSettings(rounds=20))
        assert counted.weights == pytest.approx(repeated.weights, abs=0.02)
        assert counted.elbo[-1] == pytest.approx(repeated.elbo[-1], abs=1e-3)


@pytest.mark.parametrize("learn", LEARNERS)
def test_the_same_input_gives_the_same_digits(learn):
    pairs = sample_audit(HiddenProfile(topics=10), np.random.default_rng(2), queries=60).pairs
    one, other = learn(pairs), learn(pairs)
    assert np.array_equal(one.weights, other.weights)
    assert one.elbo == other.elbo


def test_a_sampled_profile_is_found_again():
    shares, correlations = [], []
    for seed in range(3):
        truth = HiddenProfile()
        sampled = sample_audit(truth, np.random.default_rng(seed))
        found = learn_profile(sampled.pairs)
        shares.append(found_share(found.weights, np.flatnonzero(sampled.weights)))
        correlations.append(np.corrcoef(found.weights, sampled.weights)[0, 1])
        assert found.mix == pytest.approx(truth.mix, rel=0.05)
        assert found.concentration == pytest.approx(truth.concentration, rel=0.05)
        assert found.rate == pytest.approx(sampled.switches.mean(), abs=0.03)
        assert np.mean((found.switches > 0.5) == sampled.switches) > 0.95
    assert np.mean(shares) >= 0.95
    assert min(correlations) >= 0.9


def test_where_few_queries_are_personalised_the_switch_helps():
    shares = []
    for seed in range(3):
        profile = HiddenProfile(rate=0.1, weight=4.0, mix=0.6, concentration=1.0, topics=30)
        sampled = sample_audit(profile, np.random.default_rng(seed), queries=300)
        topics = np.flatnonzero(sampled.weights)
        rivals = (
            learn_profile(sampled.pairs).weights,
            weights_without_switch(sampled.pairs),
            rank_shift(sampled.pairs),
        )
        shares.append([found_share(scores, topics) for scores in rivals])
    learned, without, shifted = np.mean(shares, axis=0)
    assert learned > without
    assert learned > shifted


@pytest.mark.parametrize("learn", LEARNERS)
def test_unchanged_lists_have_no_profile(learn):
    maps = TopicMaps.from_dense(np.random.default_rng(0).dirichlet(np.ones(4), 50))
    lists = [list(range(start, start + 5)) for start in range(0, 50, 5)]
    found = learn(PairArrays.from_lists(lists, lists, maps))
    assert found.rate < 0.2
    assert np.abs(found.weights).max() < 0.1
    if learn is learn_profile:
        assert found.concentration == MOST_CONCENTRATED


@pytest.mark.parametrize("learn", LEARNERS)
def test_lists_of_one_say_nothing(learn):
    maps = TopicMaps.from_dense(np.eye(4))
    found = learn(PairArrays.from_lists([[0], [1], [2]], [[0], [1], [2]], maps))
    assert found.weights == pytest.approx(np.zeros(4))
    # Only the slack of the bound is left, gamma^2 s^2 / 2 a list.
    assert found.rate == pytest.approx(0.5, abs=0.005)


def test_nothing_to_learn_from_and_counts_that_do_not_fit_are_refused():
    pairs = draw_pairs(np.random.default_rng(0))
    with pytest.raises(InputError, match="no pairs"):
        infer_profile(pairs.take(np.zeros(len(pairs), dtype=bool)))
    with pytest.raises(InputError, match="counts"):
        infer_profile(pairs, counts=np.ones(len(pairs) + 1))
    with pytest.raises(ParameterError, match="mix"):
        LearningSettings(mix=1.5)


def test_the_estimator_keeps_the_conventions():
    sampled = sample_audit(HiddenProfile(topics=10, favoured=2), np.random.default_rng(4), queries=100)
    learner = ProfileLearner(method="inference")
    assert learner.get_params() == {"method": "inference", "settings": None}
    assert learner.set_params(method="learning") is learner
    assert learner.fit(sampled.pairs) is learner
    assert np.array_equal(learner.weights_, learn_profile(sampled.pairs).weights)
    assert learner.n_features_in_ == 10
    assert learner.n_iter_ == len(learner.elbo_) - 1
    assert learner.warnings_ == ()
    assert learner.predict(sampled.pairs).mean() > 0.6
    known = learner.score(sampled.pairs)
    assert known > learner.score(sampled.pairs.swapped())
    with pytest.raises(ParameterError, match="no parameter"):
        learner.set_params(depth=3)
    with pytest.raises(ParameterError, match="not fitted"):
        ProfileLearner().score(sampled.pairs)
    with pytest.raises(ParameterError, match="method"):
        ProfileLearner(method="guess").fit(sampled.pairs)
    with pytest.raises(InputError, match="topics"):
        learner.score(draw_pairs(np.random.default_rng(0)))
    with pytest.raises(InputError, match="pairs are needed"):
        learner.fit([[1, 2]])


def test_the_estimator_takes_lists_and_a_matrix():
    maps = np.eye(4)
    learner = ProfileLearner(method="inference").fit(([[0, 1], [2, 3]] * 5, [[1, 0], [2, 3]] * 5, maps))
    assert learner.weights_[1] > 0 > learner.weights_[0]


def test_fewer_queries_than_topics_draw_weights_to_zero_and_say_so():
    sampled = sample_audit(HiddenProfile(topics=40, favoured=3), np.random.default_rng(6), queries=10)
    learner = ProfileLearner(method="inference").fit(sampled.pairs)
    assert any("fewer than 40 topics" in sentence for sentence in learner.warnings_)
    narrowed = infer_profile(sampled.pairs, replace(LearningSettings(), prior_deviation=1.0))
    assert np.array_equal(learner.weights_, narrowed.weights)
    assert np.linalg.norm(learner.weights_) < np.linalg.norm(infer_profile(sampled.pairs).weights)


@given(st.integers(1, 6), st.integers(0, 1000), st.floats(0.1, 3))
def test_a_climb_within_limits_ends_where_another_optimiser_does(size, seed, half_width):
    generator = np.random.default_rng(seed)
    root = generator.normal(0, 1, (size, size))
    curvature, centre = root @ root.T + 0.1 * np.eye(size), generator.normal(0, 2, size)

    def target(point):
        away = point - centre
        return -float(away @ curvature @ away) / 2, -curvature @ away

    limits = np.full(size, -half_width), np.full(size, half_width)
    found = climb(target, np.zeros(size), limits, 500)
    # Bounded least squares by an active set: exact, where L-BFGS-B now and then stops at a corner that is not the top.
    factor = np.linalg.cholesky(curvature).T
    best = lsq_linear(factor, factor @ centre, limits, method="bvls")
    assert (np.abs(found) <= half_width).all()
    assert target(found)[0] == pytest.approx(-best.cost, abs=1e-4 * max(1, best.cost))


def test_a_climb_never_ends_lower_than_it_began():
    def wavy(point):
        return float(np.sin(5 * point).sum() - (point**2).sum()), 5 * np.cos(5 * point) - 2 * point

    for seed in range(50):
        start = np.random.default_rng(seed).normal(0, 2, 3)
        found = climb(wavy, start, (np.full(3, -9.0), np.full(3, 9.0)), 20)
        assert wavy(found)[0] >= wavy(start)[0]
