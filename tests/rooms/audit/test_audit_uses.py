import time

import numpy as np
import pytest
from audit_pairs import found_share, noisy_views

from aidos.errors import InputError, ParameterError
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.classification import disambiguate, find_swapped, log_likelihoods
from aidos.rooms.audit.densities import log_mean_personalised, log_vanilla
from aidos.rooms.audit.evidence import find_evidence, strengths
from aidos.rooms.audit.inference import infer_profile
from aidos.rooms.audit.learning import learn_profile
from aidos.rooms.audit.shifts import look_before_learning, rank_shift
from aidos.studies.audit.surrogate import HiddenProfile, WorldSettings, build_world, sample_audit, train_engine


@pytest.fixture(scope="module")
def sampled():
    return sample_audit(HiddenProfile(topics=15, favoured=3), np.random.default_rng(3), queries=300)


@pytest.fixture(scope="module")
def profile(sampled):
    return learn_profile(sampled.pairs)


@pytest.fixture(scope="module")
def world():
    found = build_world(WorldSettings(), np.random.default_rng(0))
    return found, found.topic_maps()


def test_the_likelihood_is_the_mixture_of_both_laws(sampled, profile):
    few = sampled.pairs.take(np.arange(20))
    kept = np.exp(log_vanilla(few, profile.concentration).values)
    lifted = np.exp(log_mean_personalised(few, few.maps.dot(profile.weights), profile.mix, 0.0).values)
    mixture = (1 - profile.rate) * kept + profile.rate * lifted
    assert np.exp(log_likelihoods(few, profile)) == pytest.approx(mixture)


def test_new_pairs_are_told_apart(sampled):
    half = learn_profile(sampled.pairs.take(np.arange(150)))
    found = disambiguate(sampled.pairs.take(np.arange(150, 300)), half)
    assert found.accuracy > 0.65
    other_way = disambiguate(sampled.pairs.take(np.arange(150, 300)).swapped(), half)
    assert found.accuracy + other_way.accuracy == pytest.approx(1)
    unchanged = PairArrays.from_lists([[0, 1]], [[0, 1]], sampled.pairs.maps)
    assert disambiguate(unchanged, half).accuracy == 0.5
    nothing = disambiguate(sampled.pairs.take(np.zeros(300, dtype=bool)), half)
    with pytest.raises(InputError, match="no pairs"):
        _ = nothing.accuracy


def test_users_are_known_by_their_profiles():
    people = [sample_audit(HiddenProfile(topics=15, favoured=3), np.random.default_rng(seed)) for seed in range(3)]
    profiles = [infer_profile(person.pairs.take(np.arange(350))) for person in people]
    for number, person in enumerate(people):
        new = person.pairs.take(np.arange(350, 500))
        likely = np.array([log_likelihoods(new, profile) for profile in profiles])
        assert likely.sum(axis=1).argmax() == number
        assert (likely.argmax(axis=0) == number).mean() > 0.4


def test_evidence_names_the_moves_and_their_topics(sampled, profile):
    found = find_evidence(sampled.pairs, profile, most=20)
    assert len(found) == 20
    assert [each.strength for each in found] == sorted((each.strength for each in found), reverse=True)
    assert all(sampled.switches[each.query] for each in found)
    favoured = set(np.flatnonzero(sampled.weights))
    rises = [move for each in found for move in each.moves if move.vanilla_rank - move.personalised_rank >= 4]
    assert np.mean([move.topic in favoured for move in rises]) > 0.8
    for each in found:
        vanilla, personalised = (items.tolist() for items in sampled.pairs.lists(each.query))
        for move in each.moves:
            assert vanilla[move.vanilla_rank - 1] == personalised[move.personalised_rank - 1] == move.item
            assert move.vanilla_rank != move.personalised_rank
            assert move.topic is None or (move.push > 0) == (move.personalised_rank < move.vanilla_rank)
    with pytest.raises(InputError, match="learned from 300"):
        strengths(sampled.pairs.take([0]), profile)


def test_a_file_the_wrong_way_round_is_noticed(sampled):
    assert not find_swapped(infer_profile, sampled.pairs).whole_file
    assert find_swapped(infer_profile, sampled.pairs.swapped()).whole_file


def test_noise_alone_is_no_wrong_way_round():
    for seed in range(5):
        pairs, _ = noisy_views(np.random.default_rng(seed), queries=100)
        report = find_swapped(infer_profile, pairs)
        assert not report.whole_file
        assert len(report.pairs) <= 2


def test_single_exchanged_pairs_stand_out(sampled, profile):
    clear = np.argsort(-disambiguate(sampled.pairs, profile).log_odds)[:5]
    vanilla, personalised = zip(*(sampled.pairs.lists(query) for query in range(300)), strict=True)
    lists = [list(vanilla), list(personalised)]
    for query in clear:
        lists[0][query], lists[1][query] = lists[1][query], lists[0][query]
    mixed = PairArrays.from_lists(*[[items.tolist() for items in side] for side in lists], sampled.pairs.maps)
    report = find_swapped(learn_profile, mixed)
    assert set(clear.tolist()) <= set(report.pairs.tolist())
    assert len(report.pairs) <= 8
    assert not report.whole_file
    with pytest.raises(ParameterError, match="rarity"):
        find_swapped(infer_profile, mixed, rarity=0)


def test_inference_finds_the_topics_of_the_surrogate_engine_and_is_not_below_rank_shift(world):
    surrogate, maps = world
    generator, shares = np.random.default_rng(1), []
    for size in range(1, 11):
        topics = generator.choice(50, size, replace=False)
        pairs = train_engine(surrogate, topics).ask(maps, generator, queries=300)
        assert not look_before_learning(pairs).warnings
        rivals = infer_profile(pairs).weights, rank_shift(pairs)
        shares.append([found_share(scores, topics) for scores in rivals])
    inferred, shifted = np.mean(shares, axis=0)
    assert inferred >= 0.84
    assert inferred >= shifted


def test_unique_matching_sums_the_weights_of_distinct_terms(world):
    surrogate, _ = world
    engine = train_engine(surrogate, [3, 4])
    read = (surrogate.mixtures[:, 3] > 0.2) | (surrogate.mixtures[:, 4] > 0.2)
    word = int(np.argmax(surrogate.topic_words[3]))
    weight = surrogate.counts[read, word].sum() / np.log((surrogate.counts[:, word] > 0).sum())
    assert engine.term_weights[word] == pytest.approx(weight)
    vanilla = surrogate.search([word], 10)
    scores = {
        item: sum(engine.term_weights[term] for term in np.flatnonzero(surrogate.counts[item])) for item in vanilla
    }
    assert engine.personalise(vanilla).tolist() == sorted(vanilla, key=lambda item: -scores[item])
    by_rank = train_engine(surrogate, [3, 4], rank_matters=True)
    discounted = {item: scores[item] / np.log(3 + place) for place, item in enumerate(vanilla)}
    assert by_rank.personalise(vanilla).tolist() == sorted(vanilla, key=lambda item: -discounted[item])


def test_an_engine_personalises_at_its_rate(world):
    surrogate, maps = world
    pairs = train_engine(surrogate, [1], rate=0.3).ask(maps, np.random.default_rng(2), queries=200)
    assert pairs.changed.mean() == pytest.approx(0.3, abs=0.1)


def test_topic_maps_follow_what_documents_are_about(world):
    surrogate, maps = world
    found = np.array([maps.row(item) for item in range(300)])
    assert np.corrcoef(found.ravel(), surrogate.mixtures[:300].ravel())[0, 1] > 0.85


@pytest.mark.slow
def test_lists_of_one_topic_are_warned_of_before_learning():
    generator = np.random.default_rng(0)
    surrogate = build_world(WorldSettings(shared_by=1, topics_per_document=0.02, documents=2000), generator)
    pairs = train_engine(surrogate, [1, 2, 3]).ask(surrogate.topic_maps(), generator, queries=100)
    assert any("hardly mix topics" in sentence for sentence in look_before_learning(pairs).warnings)


def test_other_lists_that_say_nothing_are_warned_of():
    maps = TopicMaps.from_dense(np.eye(3))
    same = look_before_learning(PairArrays.from_lists([[0, 1], [2], [1, 2]], [[0, 1], [2], [1, 2]], maps))
    assert any("1 of 3 queries has fewer than two" in sentence for sentence in same.warnings)
    assert any("are the same" in sentence for sentence in same.warnings)
    alone = look_before_learning(PairArrays.from_lists([[0, 1]], [[1, 0]], maps))
    assert any("1 query is fewer than 3 topics" in sentence for sentence in alone.warnings)
    assert not any("hardly mix" in sentence for sentence in same.warnings)


@pytest.mark.slow
def test_850_queries_of_ten_results_and_50_topics_take_seconds():
    pairs = sample_audit(HiddenProfile(), np.random.default_rng(0), queries=850).pairs
    for learn, limit in ((infer_profile, 0.5), (learn_profile, 3.0)):
        learn(pairs.take(np.arange(20)))
        begun = time.process_time()
        learn(pairs)
        assert time.process_time() - begun < limit
