"""Topics and profile together: the bound against brute force, its gradients, that it never falls, and what it finds."""

import numpy as np
import pytest
from audit_pairs import found_share, small_pairs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.special import digamma

from aidos.core.resultpairs import Result
from aidos.errors import InputError, ParameterError
from aidos.model.latent.model import TopicModel
from aidos.model.latent.training import train_topics
from aidos.model.wordlimits import WordLimits
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.densities import log_mean_personalised
from aidos.rooms.audit.inference import LearningSettings
from aidos.rooms.audit.joint import JointSettings, learn_jointly
from aidos.rooms.audit.jointbound import ItemWords, JointAscent, JointSpreads, log_mean_joint, softmax
from aidos.rooms.audit.learning import learn_profile, update_concentration
from aidos.rooms.audit.topics.latent import LatentTopics

SPREADS = JointSpreads(weights=0.3, maps=0.4, prior=1.5, words=0.2)


def an_ascent(pairs, seed, *, words=7, spreads=SPREADS):
    generator = np.random.default_rng(seed)
    items, topics = len(pairs.maps), pairs.topic_count
    lengths = generator.integers(0, 5, items)
    return JointAscent(
        pairs=pairs,
        settings=LearningSettings(),
        counts=np.ones(len(pairs)),
        weights=generator.normal(0, 1, topics),
        mix=float(generator.uniform(0.1, 0.9)),
        concentration=float(generator.uniform(0.5, 5)),
        texts=ItemWords(
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            words=generator.integers(0, words, lengths.sum()).astype(np.int32),
            word_count=words,
        ),
        spreads=spreads,
        maps=generator.normal(0, 1, (items, topics)),
        topics=generator.gamma(1, 1, (words, topics)) + 0.1,
    )


@settings(max_examples=25, deadline=None)
@given(pairs=small_pairs(), seed=st.integers(0, 2**16))
def test_without_spread_of_maps_the_bound_of_lists_is_that_of_fixed_maps(pairs, seed):
    generator = np.random.default_rng(seed)
    weights, mix = generator.normal(0, 2, pairs.topic_count), float(generator.random())
    maps = np.array([pairs.maps.row(item) for item in range(len(pairs.maps))])
    spreads = JointSpreads(weights=0.3, maps=0.0, prior=1.0, words=1.0)
    ours = log_mean_joint(pairs, maps, weights, mix, spreads).scored
    theirs = log_mean_personalised(pairs, pairs.maps.dot(weights), mix, 0.3)
    assert ours.values == pytest.approx(theirs.values, rel=1e-6, abs=1e-6)
    assert ours.slopes == pytest.approx(theirs.slopes, rel=1e-5, abs=1e-5)


def test_the_bound_of_lists_lies_below_the_mean_and_its_moments_are_exact():
    generator = np.random.default_rng(4)
    maps, weights, mix = generator.normal(0, 1, (4, 2)), np.array([1.0, -0.5]), 0.7
    pairs = PairArrays.from_lists([[0, 1, 2, 3]], [[2, 0, 3, 1]], TopicMaps.from_dense(maps))
    found = float(log_mean_joint(pairs, maps, weights, mix, SPREADS).scored.values[0])
    draws = 200_000
    etas = weights + SPREADS.weights * generator.normal(size=(draws, 2))
    thetas = maps + SPREADS.maps * generator.normal(size=(draws, 4, 2))
    utilities = mix * np.einsum("dk,dik->di", etas, thetas) - (1 - mix) * np.arange(1, 5)
    ordered = utilities[:, [2, 0, 3, 1]]
    suffix = np.logaddexp.accumulate(ordered[:, ::-1], axis=1)[:, ::-1]
    mean = float((ordered - suffix).sum(axis=1).mean())
    assert mean - 0.5 < found < mean
    # The same bound from means of exponentials that were drawn instead of integrated.
    drawn = np.log(np.exp(ordered).mean(axis=0))
    sums = np.logaddexp.accumulate(drawn[::-1])[::-1]
    firm = mix * (maps @ weights)[[2, 0, 3, 1]] - (1 - mix) * np.array([3, 1, 4, 2])
    assert found == pytest.approx(float((firm - sums).sum()), abs=0.02)


def numeric(function, point):
    step = 1e-5
    return np.array(
        [(function(point + step * d) - function(point - step * d)) / (2 * step) for d in np.eye(len(point))]
    )


@settings(max_examples=15, deadline=None)
@given(pairs=small_pairs(), seed=st.integers(0, 2**16))
def test_gradients_are_those_of_the_bound(pairs, seed):
    ascent = an_ascent(pairs, seed)
    _, gradient, slope = ascent.target(ascent.weights, ascent.mix)
    by_weights = numeric(lambda point: ascent.target(point, ascent.mix)[0], ascent.weights)
    assert gradient == pytest.approx(by_weights, rel=1e-4, abs=1e-4)
    by_mix = numeric(lambda point: ascent.target(ascent.weights, float(point[0]))[0], np.array([ascent.mix]))
    assert slope == pytest.approx(by_mix[0], rel=1e-4, abs=1e-4)
    point = ascent.maps.ravel()
    _, by_maps = ascent._target_of_maps(point)
    assert by_maps == pytest.approx(numeric(lambda at: ascent._target_of_maps(at)[0], point), rel=1e-4, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(pairs=small_pairs(), seed=st.integers(0, 2**16))
def test_no_update_lowers_the_bound(pairs, seed):
    ascent = an_ascent(pairs, seed)
    before = ascent.elbo()
    for _ in range(3):
        for update in (
            ascent.update_topics,
            ascent.update_maps,
            lambda: update_concentration(ascent),
            lambda: ascent.update_weights(with_mix=True),
            ascent.update_switches,
        ):
            update()
            after = ascent.elbo()
            assert after >= before - 1e-9 * max(1, abs(before))
            before = after


def test_words_are_shared_out_as_brute_force_does():
    pairs = PairArrays.from_lists([[0, 1]], [[1, 0]], TopicMaps.from_dense(np.ones((2, 3))))
    ascent = an_ascent(pairs, 3)
    logs = digamma(ascent.topics) - digamma(ascent.topics.sum(axis=0))
    item_counts, word_counts, value = np.zeros_like(ascent.maps), np.zeros_like(ascent.topics), 0.0
    for item in range(2):
        for word in ascent.texts.words[ascent.texts.starts[item] : ascent.texts.starts[item + 1]]:
            parts = np.exp(ascent.maps[item] + logs[word])
            value += np.log(parts.sum())
            item_counts[item] += parts / parts.sum()
            word_counts[word] += parts / parts.sum()
    assert ascent.word_value == pytest.approx(value)
    assert ascent.item_counts == pytest.approx(item_counts)
    assert ascent.word_counts == pytest.approx(word_counts)


CONSONANTS, VOWELS = "bdfgklmnprtvz", "aou"
WORDS = [f"{a}{b}{c}{d}x" for a in CONSONANTS for b in VOWELS for c in CONSONANTS for d in VOWELS][:120]
FAVOURED = [0, 1]
LIMITS = WordLimits(least_texts=3)


def a_world(seed, *, items=300, words=10, queries=200, length=8):
    """Texts and lists drawn from the joint model: six topics of which the engine lifts two."""
    generator = np.random.default_rng(seed)
    topics = generator.dirichlet(np.full(len(WORDS), 0.1), 6)
    maps = generator.normal(0, 2, (items, 6))
    _, shares = softmax(maps)
    texts = []
    for item in range(items):
        chosen = generator.choice(6, words, p=shares[item])
        texts.append(" ".join(WORDS[generator.choice(len(WORDS), p=topics[topic])] for topic in chosen))
    weights = np.where(np.isin(np.arange(6), FAVOURED), 2.0, 0.0)
    vanilla = [generator.choice(items, length, replace=False).tolist() for _ in range(queries)]
    ranks = np.arange(1, length + 1)
    personalised = []
    for shown in vanilla:
        lifted = 0.8 * (maps @ weights)[shown] - 0.2 * ranks
        utilities = (lifted if generator.random() < 0.6 else -2.0 * ranks) + generator.gumbel(size=length)
        personalised.append(np.array(shown)[np.argsort(-utilities)].tolist())
    return texts, vanilla, personalised, topics


def results_of(texts):
    return [Result(url=f"https://site.example/{number}", title=text) for number, text in enumerate(texts)]


def distance_and_weights(model, weights, truth):
    """How far the topics' words are from the truth (half the sum of differences), and the weights in its order."""
    numbers = model.numbers(WORDS)
    phi = np.where(numbers >= 0, model.phi[:, np.maximum(numbers, 0)], 0)
    apart = np.abs(phi[:, None, :] - truth[None]).sum(axis=2) / 2
    mine, theirs = linear_sum_assignment(apart)
    ordered = np.empty(len(weights))
    ordered[theirs] = weights[mine]
    return apart[mine, theirs].mean(), ordered


@pytest.mark.slow
def test_words_and_profile_are_found_at_least_as_well_as_in_two_steps():
    apart, found, correlations = [], [], []
    truth = np.isin(np.arange(6), FAVOURED).astype(float)
    for seed in (1, 2, 3):
        texts, vanilla, personalised, topics = a_world(seed)
        first = train_topics(texts, topics=6, limits=LIMITS, seed=1)
        known = LatentTopics(model=first).describe(results_of(texts), vanilla)
        two_steps = learn_profile(PairArrays.from_lists(vanilla, personalised, known.maps))
        joint = learn_jointly(
            texts, vanilla, personalised, topics=6, settings=JointSettings(starts=3, rounds=25, seed=1)
        )
        for name, model, weights in (
            ("two", first, two_steps.weights),
            ("joint", joint.model, joint.profile.weights),
        ):
            distance, ordered = distance_and_weights(model, weights, topics)
            apart.append((name, distance))
            found.append((name, found_share(ordered, FAVOURED)))
            correlations.append((name, np.corrcoef(ordered, truth)[0, 1]))
        assert (np.diff(joint.profile.elbo) >= -1e-9 * abs(joint.profile.elbo[0])).all()

    def mean(numbers, name):
        return np.mean([number for which, number in numbers if which == name])

    assert mean(apart, "joint") <= mean(apart, "two") + 0.01
    assert mean(found, "joint") >= mean(found, "two")
    assert mean(correlations, "joint") >= mean(correlations, "two") - 0.01


@pytest.fixture(scope="module")
def small():
    texts, vanilla, personalised, _ = a_world(5, items=80, queries=60)
    return ["", *texts[1:]], vanilla, personalised


QUICK = JointSettings(starts=2, rounds=8)


def test_the_same_texts_and_lists_give_the_same_result(small):
    one, other = (learn_jointly(*small, topics=4, settings=QUICK) for _ in range(2))
    assert one.profile.elbo == other.profile.elbo
    assert np.array_equal(one.maps, other.maps)
    assert one.described.space == other.described.space


def test_what_comes_out_can_be_used_as_the_topics_of_an_audit(small):
    texts, vanilla, personalised = small
    found = learn_jointly(*small, topics=4, settings=QUICK)
    space, maps = found.described.space, found.described.maps
    assert (space.kind, len(space), len(maps), maps.topic_count) == ("latent", 4, len(texts), 4)
    assert all(topic.words and set(topic.words) <= set(WORDS) for topic in space.topics)
    assert maps.shares.min() >= 0.05
    assert found.profile.weights.shape == (4,)
    assert len(found.profile.switches) == len(vanilla)
    assert len(learn_profile(PairArrays.from_lists(vanilla, personalised, maps)).weights) == 4
    again = LatentTopics(model=found.model).describe(results_of(["x", *texts[1:]]), vanilla)
    assert again.space.topics == space.topics
    assert found.described.notes == ("1 of 80 results have no known word: their topics come from their places alone",)


def test_a_result_without_text_gets_its_map_from_where_it_is_put():
    texts, vanilla, _, _ = a_world(6, items=60, queries=120)
    start = train_topics(texts, topics=3, limits=LIMITS, seed=1)
    about = LatentTopics(model=start).describe(results_of(texts), vanilla).maps
    liked = np.array([about.row(item)[0] for item in range(60)])
    silent = int(np.argmax(liked))
    liked[silent] = 1.0
    personalised = [sorted(shown, key=lambda item: -liked[item]) for shown in vanilla]
    texts[silent] = ""
    found = learn_jointly(texts, vanilla, personalised, start=start, settings=QUICK)
    assert found.profile.weights.argmax() == 0
    assert found.maps[silent].argmax() == 0


def test_bad_calls_are_refused(small):
    texts, vanilla, personalised = small
    with pytest.raises(ParameterError, match="at least 2 topics"):
        learn_jointly(*small, topics=1)
    with pytest.raises(ParameterError, match="less than 1"):
        JointSettings(profile=LearningSettings(spread=3.0), map_spread=0.5)
    with pytest.raises(ParameterError, match="map_spread"):
        JointSettings(map_spread=1.0)
    with pytest.raises(InputError, match="too many to learn together"):
        learn_jointly(["x"] * 1_000_000, vanilla, personalised, topics=20)
    with pytest.raises(InputError, match="too few to learn"):
        learn_jointly(["", "bx"], [[0, 1]], [[1, 0]], topics=4)
    strange = TopicModel(words=("qqq", "rrr"), phi=np.full((2, 2), 0.5), prior=np.ones(2))
    with pytest.raises(InputError, match="no result has a word"):
        learn_jointly(texts, vanilla, personalised, start=strange)
    with pytest.raises(InputError, match="the same items"):
        learn_jointly(texts, [[0, 1]], [[0, 2]], topics=2, settings=QUICK)
