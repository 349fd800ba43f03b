"""Measures against their definitions, object by object; rankings against all pairs; closed forms."""

from math import log

import numpy as np
import plainly
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_assignment import vectors

from aidos.core.noise import Noise
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.accounts import MediatorAccounts
from aidos.rooms.shield.mediator.assignment import Assignment
from aidos.rooms.shield.mediator.measures import (
    coherence_losses,
    coherences,
    entropies,
    largest_overlaps,
    least_divergences,
    measure,
    profile_diversities,
)
from aidos.rooms.shield.mediator.objects import Objects
from oracles.agreement import jaccard_loss, kendall_loss


def assigned(chosen, accounts):
    return Assignment(accounts=accounts, chosen=np.array(chosen, dtype=np.int64), noise_source="none")


@st.composite
def assignments(draw):
    number = draw(st.integers(1, 30))
    short = st.lists(st.integers(0, 3), min_size=number, max_size=number)
    objects = Objects(people=np.array(draw(short)), topics=np.array(draw(short)))
    return objects, assigned(draw(short), 5)


@given(assignments())
def test_model_measures_follow_their_definitions(scene):
    objects, assignment = scene
    found = measure(objects, assignment)
    for person in range(objects.people_count):
        mine = np.flatnonzero(objects.people == person)
        if len(mine) == 0:
            assert np.isnan(found.entropy[person])
            assert np.isnan(found.coherence_loss[person])
            continue
        spread = np.bincount(assignment.chosen[mine])
        assert found.entropy[person] == pytest.approx(plainly.entropy(spread), abs=1e-12)
        assert found.overlap[person] == pytest.approx(spread.max() / len(mine))
        assert found.diversity[person] == pytest.approx(plainly.entropy(np.bincount(objects.topics[mine])), abs=1e-12)
        lost = [
            plainly.coherence(objects, number, mine, "same-topic")
            - plainly.coherence(
                objects, number, np.flatnonzero(assignment.chosen == assignment.chosen[number]), "same-topic"
            )
            for number in mine
        ]
        assert found.coherence_loss[person] == pytest.approx(np.mean(lost), abs=1e-12)


@given(assignments())
def test_the_least_divergence_is_the_least_of_all(scene):
    objects, assignment = scene
    least, nearest = least_divergences(objects, assignment)
    topics = int(objects.topics.max()) + 1
    for person in set(objects.people.tolist()):
        own = _smoothed(objects.topics[objects.people == person], topics)
        found = [
            sum(
                p * log(p / q)
                for p, q in zip(own, _smoothed(objects.topics[assignment.chosen == m], topics), strict=True)
            )
            for m in range(5)
        ]
        assert least[person] == pytest.approx(min(found), abs=1e-12)
        assert found[nearest[person]] == pytest.approx(min(found), abs=1e-12)


def _smoothed(held, topics):
    return [(np.sum(held == topic) + 1) / (len(held) + topics) for topic in range(topics)]


@given(st.data())
@settings(max_examples=40)
@pytest.mark.parametrize("name", ["cosine", "jaccard"])
def test_coherence_of_vectors_follows_its_definition(name, data):
    weights = st.sampled_from([0.0, 0.0, 0.25, 1.0, 3.0])
    rows = data.draw(st.lists(st.lists(weights, min_size=3, max_size=3), min_size=1, max_size=20))
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))))
    objects = Objects(people=np.zeros(len(rows), dtype=int), topics=vectors(rows))
    found = coherences(objects, groups, name)
    for number in range(len(rows)):
        members = np.flatnonzero(groups == groups[number])
        assert found[number] == pytest.approx(plainly.coherence(objects, number, members, name), abs=1e-12)


def test_whoever_keeps_her_own_account_loses_and_gains_nothing():
    objects = Objects(people=np.repeat(np.arange(5), 20), topics=np.random.default_rng(1).integers(0, 4, 100))
    found = measure(objects, assigned(objects.people, 5))
    for nothing in (found.entropy, found.coherence_loss, found.least_divergence):
        assert nothing == pytest.approx(np.zeros(5), abs=1e-12)
    assert (found.overlap == 1).all()


def test_even_spread_has_the_largest_entropy_and_the_smallest_overlap():
    objects = Objects(people=np.zeros(60, dtype=int), topics=np.zeros(60, dtype=int))
    even = assigned(np.arange(60) % 12, 12)
    assert entropies(objects, even) == pytest.approx([log(12)])
    assert largest_overlaps(objects, even) == pytest.approx([1 / 12])


def test_smoothing_counts_accounts_that_hold_nothing():
    objects = Objects(people=np.zeros(3, dtype=int), topics=np.zeros(3, dtype=int))
    found = entropies(objects, assigned([0, 0, 1], 4), smoothing=1.0)
    assert found == pytest.approx([plainly.entropy([3, 2, 1, 1])])
    with pytest.raises(ParameterError, match="smoothing"):
        entropies(objects, assigned([0, 0, 1], 4), smoothing=-1.0)


def test_loss_is_negative_where_accounts_are_purer_than_people():
    objects = Objects(people=np.repeat([0, 1], 40), topics=np.tile([0, 1, 2, 3], 20))
    pure = assigned(objects.people * 4 + objects.topics, 8)
    assert (coherence_losses(objects, pure) < -0.7).all()


def test_vectors_with_one_weight_are_measured_as_topics():
    draws = np.random.default_rng(1)
    objects = Objects(people=draws.integers(0, 4, 300), topics=draws.integers(0, 6, 300))
    as_vectors = Objects(people=objects.people, topics=objects.vectors)
    chosen = MediatorAccounts(accounts=5, alpha=0.5, heuristic="original").run(objects, Noise(1))
    assert least_divergences(objects, chosen)[0] == pytest.approx(least_divergences(as_vectors, chosen)[0])
    assert profile_diversities(objects) == pytest.approx(profile_diversities(as_vectors))


def test_other_objects_than_were_assigned_are_refused():
    objects = Objects(people=np.zeros(3, dtype=int), topics=np.zeros(3, dtype=int))
    for wrong in (assigned([0, 0], 1), assigned([0, 0, 2], 2), assigned([0, 0, -1], 2)):
        for function in (entropies, largest_overlaps, coherence_losses, least_divergences):
            with pytest.raises(InputError):
                function(objects, wrong)


@given(st.lists(st.integers(0, 12), unique=True), st.lists(st.integers(0, 12), unique=True))
def test_kendall_loss_is_that_of_all_pairs(first, second):
    assert kendall_loss(first, second) == pytest.approx(plainly.kendall(first, second))
    assert kendall_loss(first, second) == pytest.approx(kendall_loss(second, first))


def test_kendall_loss_closed_forms():
    hits = [f"d{number}" for number in range(100)]
    assert kendall_loss(hits, hits) == 0
    assert kendall_loss(hits, hits[::-1]) == 1
    assert kendall_loss(hits, [*hits[1:2], *hits[:1], *hits[2:]]) == pytest.approx(1 / 4950)
    assert kendall_loss([], []) == kendall_loss(["a"], []) == 0
    assert kendall_loss(hits, [*hits[:50], "x"], top=50) == 0


def test_jaccard_loss_closed_forms():
    hits = [f"d{number}" for number in range(40)]
    assert jaccard_loss(hits, hits[:20][::-1]) == 0
    assert jaccard_loss(hits, hits[20:]) == 1
    assert jaccard_loss(hits, hits[10:]) == pytest.approx(1 - 10 / 30)
    assert jaccard_loss([], []) == 0
    assert jaccard_loss([], hits) == 1


def test_a_ranking_holds_a_hit_once_and_tops_have_hits():
    with pytest.raises(InputError, match="twice"):
        kendall_loss(["a", "a"], ["a"])
    with pytest.raises(ParameterError, match="top"):
        jaccard_loss(["a"], ["a"], top=0)
