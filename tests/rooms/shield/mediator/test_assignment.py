"""The original heuristic against the plain search, with alphas of any kind, one at a time and all at once."""

from functools import partial
from itertools import pairwise
from math import log

import numpy as np
import plainly
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.core.guarantee import NoGuarantee
from aidos.core.noise import Noise
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.accounts import MediatorAccounts
from aidos.rooms.shield.mediator.assignment import Mediator
from aidos.rooms.shield.mediator.measures import entropies, measure
from aidos.rooms.shield.mediator.objects import Objects, TopicVectors

original = partial(MediatorAccounts, heuristic="original")


def vectors(rows):
    """Topic vectors from lists of weights by topic."""
    cells = [[(topic, weight) for topic, weight in enumerate(row) if weight] for row in rows]
    flat = [cell for row in cells for cell in row]
    return TopicVectors(
        starts=np.cumsum([0, *map(len, cells)]),
        topics=np.array([topic for topic, _ in flat], dtype=np.int64),
        weights=np.array([weight for _, weight in flat], dtype=float),
    )


def random_objects(draws, number, people=3, topics=3, alphas=None):
    return Objects(people=draws.integers(0, people, number), topics=draws.integers(0, topics, number), alphas=alphas)


@st.composite
def scenes(draw):
    """Objects in few accounts, so that shares are equal often, and alphas by object."""
    number = draw(st.integers(1, 60))
    people = draw(st.lists(st.integers(0, 2), min_size=number, max_size=number))
    topics = draw(st.lists(st.integers(0, 2), min_size=number, max_size=number))
    alphas = draw(st.lists(st.sampled_from([0.0, 0.3, 0.9, 1.0]), min_size=number, max_size=number))
    objects = Objects(people=np.array(people), topics=np.array(topics), alphas=np.array(alphas))
    return objects, draw(st.integers(1, 6)), draw(st.integers(0, 2**32))


@given(scenes())
def test_heaps_choose_as_the_plain_search_does(scene):
    objects, accounts, seed = scene
    found = original(accounts=accounts).run(objects, Noise(seed)).chosen
    words = plainly.random_words(seed, len(objects))
    assert found.tolist() == plainly.assign(objects, accounts, objects.alphas, words, "same-topic")


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_heaps_choose_as_a_table_of_counts_does_on_a_long_sequence(alpha):
    draws = np.random.default_rng(3)
    objects = random_objects(draws, 6000, people=20, topics=4)
    accounts, words = 40, plainly.random_words(5, 6000)
    counts, sizes = np.zeros((20, 4, accounts), dtype=np.int64), np.zeros(accounts, dtype=np.int64)
    expected = []
    for person, topic, (toss, word) in zip(objects.people, objects.topics, words, strict=True):
        shares = counts[person, topic] / np.maximum(sizes, 1)
        fits = plainly.uniform(toss) >= alpha and shares.max() > 0
        account = shares.argmax() if fits else int(plainly.uniform(word) * accounts)
        counts[person, topic, account] += 1
        sizes[account] += 1
        expected.append(account)
    assert original(accounts=accounts, alpha=alpha).run(objects, Noise(5)).chosen.tolist() == expected


@given(st.data())
@settings(max_examples=40)
@pytest.mark.parametrize("name", ["cosine", "jaccard"])
def test_vectors_go_where_the_plain_search_finds_the_best_mean(name, data):
    weights = st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.0])
    rows = data.draw(st.lists(st.lists(weights, min_size=3, max_size=3), min_size=1, max_size=25))
    objects = Objects(people=np.zeros(len(rows), dtype=int), topics=vectors(rows))
    accounts, seed = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 99))
    chosen = original(accounts=accounts, alpha=0.3, similarity=name).run(objects, Noise(seed)).chosen
    members = [[] for _ in range(accounts)]
    for number, (toss, word) in enumerate(plainly.random_words(seed, len(rows))):
        found = [plainly.coherence(objects, number, held, name) for held in members]
        if plainly.uniform(toss) < 0.3 or max(found) == 0:
            assert chosen[number] == int(plainly.uniform(word) * accounts)
        else:
            assert found[chosen[number]] == pytest.approx(max(found), abs=1e-12)
        members[chosen[number]].append(number)


@pytest.mark.parametrize("heuristic", ["original", "commons"])
def test_one_at_a_time_is_the_same_as_all_at_once(heuristic):
    objects = random_objects(np.random.default_rng(1), 1024, people=90)
    spec = MediatorAccounts(accounts=8, alpha=0.4, heuristic=heuristic)
    single, at_once = Mediator(spec, noise=Noise(4)), Mediator(spec, noise=Noise(4))
    # Single objects take their random words from the end of a supply of 1024.
    words = plainly.random_words(4, 1024)[::-1]
    chosen = [single.assign(int(p), int(t)) for p, t in zip(objects.people, objects.topics, strict=True)]
    assert chosen == at_once.state.assign(objects, np.full(1024, 0.4), words).tolist()
    assert single.sizes.tolist() == np.bincount(chosen, minlength=8).tolist()


@pytest.mark.parametrize("name", ["cosine", "jaccard"])
def test_vectors_one_at_a_time_fit_as_well_as_all_at_once(name):
    draws = np.random.default_rng(2)
    mediator = Mediator(original(accounts=3, alpha=0.0, similarity=name), noise=Noise(1))
    rows, chosen = [], []
    for _ in range(60):
        row = draws.integers(0, 3, 4).astype(float)
        rows.append(row.tolist())
        chosen.append(mediator.assign(0, {topic: weight for topic, weight in enumerate(row) if weight}))
        objects = Objects(people=np.zeros(len(rows), dtype=int), topics=vectors(rows))
        members = [[i for i in range(len(rows) - 1) if chosen[i] == account] for account in range(3)]
        found = [plainly.coherence(objects, len(rows) - 1, held, name) for held in members]
        assert max(found) == 0 or found[chosen[-1]] == pytest.approx(max(found), abs=1e-12)


def test_a_batch_goes_on_where_the_last_one_ended():
    objects = random_objects(np.random.default_rng(1), 3000, people=30)
    mediator = Mediator(original(accounts=10, alpha=0.5), noise=Noise(1))
    chosen = [
        mediator.assign_all(Objects(people=objects.people[i : i + 7], topics=objects.topics[i : i + 7]))
        for i in range(0, 3000, 7)
    ]
    words = np.concatenate(list(_words_in_batches(1, 3000, 7)))
    whole = Mediator(original(accounts=10, alpha=0.5), noise=Noise(1))
    assert whole.state.assign(objects, np.full(3000, 0.5), words).tolist() == np.concatenate(chosen).tolist()


def _words_in_batches(seed, objects, batch):
    bits = Noise(seed).bits
    for start in range(0, objects, batch):
        size = min(batch, objects - start)
        drawn = bits.getrandbits(128 * size).to_bytes(16 * size, "little")
        yield np.frombuffer(drawn, dtype=np.uint64).reshape(-1, 2)


def test_a_tiny_account_with_one_match_beats_a_large_one_with_fifty():
    first = Objects(people=np.zeros(50, dtype=int), topics=np.zeros(50, dtype=int), alphas=np.zeros(50))
    others = Objects(people=np.ones(10, dtype=int), topics=np.zeros(10, dtype=int), alphas=np.ones(10))
    mediator = Mediator(original(accounts=2), noise=Noise(0))
    large = int(mediator.assign_all(first)[0])
    while mediator.sizes[1 - large] == 0 or mediator.sizes[large] == 50:
        mediator.assign_all(others)
    small_size = mediator.sizes[1 - large]
    while mediator.assign(0, 0, alpha=1.0) == large:
        pass
    share_large, share_small = 50 / mediator.sizes[large], 1 / (small_size + 1)
    expected = large if share_large > share_small else 1 - large
    assert mediator.assign(0, 0, alpha=0.0) == expected


def test_with_alpha_0_a_chunk_never_parts():
    objects = random_objects(np.random.default_rng(8), 5000, people=50, topics=20)
    for heuristic in ("original", "commons"):
        chosen = MediatorAccounts(alpha=0.0, heuristic=heuristic).run(objects, Noise(1)).chosen
        chunks = objects.people * 20 + objects.topics
        assert len(np.unique(chunks * 1000 + chosen)) == len(np.unique(chunks))


def test_with_alpha_1_entropy_is_that_of_random_draws():
    people, each, accounts = 400, 60, 50
    objects = Objects(people=np.repeat(np.arange(people), each), topics=np.zeros(people * each, dtype=int))
    assignment = original(accounts=accounts, alpha=1.0).run(objects, Noise(2))
    found = entropies(objects, assignment)
    law, expected = (1 - 1 / accounts) ** each, 0.0
    for count in range(each + 1):
        expected += accounts * law * count * log(count) if count else 0.0
        law *= (each - count) / (count + 1) / (accounts - 1)
    # Further off than 5 standard errors by chance less than once in a million seeds.
    assert abs(found.mean() - (log(each) - expected / each)) < 5 * found.std() / np.sqrt(people)
    loads = np.bincount(assignment.chosen, minlength=accounts)
    assert ((loads - loads.mean()) ** 2 / loads.mean()).sum() < accounts + 7 * np.sqrt(2 * accounts)


@pytest.mark.parametrize("heuristic", ["original", "commons"])
def test_more_alpha_means_more_entropy_and_more_loss(heuristic):
    draws = np.random.default_rng(4)
    people = draws.permutation(np.repeat(np.arange(80), 100))
    objects = Objects(people=people, topics=draws.geometric(0.45, 8000))
    steps = []
    for alpha in (0.0, 0.25, 0.5, 0.75, 1.0):
        found = measure(objects, MediatorAccounts(alpha=alpha, heuristic=heuristic).run(objects, Noise(6)))
        steps.append((found.entropy, found.coherence_loss))
    for lower, higher in pairwise(steps):
        for before, after in zip(lower, higher, strict=True):
            gained = after - before
            # Means of 80 people, each step many standard errors: wrong by chance less than once in 10^5 seeds.
            assert gained.mean() > 0
            assert gained.mean() > 4 * gained.std() / np.sqrt(80)


def test_shuffled_objects_are_assigned_too():
    objects = random_objects(np.random.default_rng(1), 200)
    chosen = original(accounts=40, alpha=0.0, order="shuffled").run(objects, Noise(1)).chosen
    chunks = objects.people * 3 + objects.topics
    assert len(np.unique(chunks * 100 + chosen)) == len(np.unique(chunks))
    mixed = Objects(people=objects.people, topics=objects.vectors, alphas=np.zeros(200))
    chosen = original(accounts=40, similarity="jaccard", order="shuffled").run(mixed, Noise(1)).chosen
    assert len(np.unique(objects.topics * 100 + chosen)) == 3


def test_alpha_of_one_person_leaves_the_others_alone():
    objects = random_objects(np.random.default_rng(1), 4000, people=4, topics=1)
    assignment = original(accounts=50).run(objects.with_person_alphas([0, 0, 0, 1]), Noise(1))
    found = entropies(objects, assignment)
    assert (found[:3] == 0).all()
    assert found[3] > 3


def test_where_randomness_came_from_is_recorded_and_nothing_is_promised():
    objects = random_objects(np.random.default_rng(1), 5)
    assert original().run(objects, Noise()).noise_source == "operating system"
    assert original().run(objects, Noise(3)).noise_source == "seed 3, repeatable"
    assert isinstance(original().promise, NoGuarantee)


@pytest.mark.parametrize("bad", [{"alpha": -0.1}, {"alpha": 1.1}, {"alpha": float("nan")}, {"accounts": 0}])
def test_impossible_parameters_are_refused(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        original(**bad)


def test_commons_need_topics():
    with pytest.raises(ParameterError, match="same-topic"):
        MediatorAccounts(heuristic="commons", similarity="cosine")


def test_a_mediator_needs_accounts_known_numbers_and_a_fitting_alpha():
    with pytest.raises(ParameterError, match="at least one account"):
        Mediator(original(), noise=Noise(1))
    mediator = Mediator(original(accounts=2), noise=Noise(1))
    for wrong in ((-1, 0, 0.5), (0, -1, 0.5), (0, 2**31, 0.5), (0, 0, 1.5), (0, 0, float("nan"))):
        with pytest.raises(InputError):
            mediator.assign(*wrong)
    with pytest.raises(InputError, match="one topic"):
        mediator.assign(0, {1: 1.0})
    with pytest.raises(InputError, match="weights by topic"):
        mediator.assign(0, "cats")
    assert mediator.sizes.sum() == 0


@pytest.mark.parametrize("heuristic", ["original", "commons"])
def test_one_account_takes_everything_and_nothing_is_no_trouble(heuristic):
    spec = MediatorAccounts(accounts=1, alpha=0.5, heuristic=heuristic)
    assert set(spec.run(random_objects(np.random.default_rng(1), 50), Noise(1)).chosen) == {0}
    assert len(spec.run(Objects(people=np.zeros(0, int), topics=np.zeros(0, int)), Noise(1)).chosen) == 0


def test_too_many_topics_for_memory_are_refused():
    mediator = Mediator(original(accounts=100, similarity="cosine"), noise=Noise(1))
    with pytest.raises(InputError, match="do not fit in memory"):
        mediator.assign(0, {2**30: 1.0})
