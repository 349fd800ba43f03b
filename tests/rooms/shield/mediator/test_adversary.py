"""The adversary finds who does not hide, is blind where all accounts look alike, and is counted fairly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.noise import Noise
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.accounts import MediatorAccounts
from aidos.rooms.shield.mediator.adversary import ProfileLinking
from aidos.rooms.shield.mediator.assignment import Assignment
from aidos.rooms.shield.mediator.measures import divergences, topic_counts
from aidos.rooms.shield.mediator.objects import Objects


def community(people=60, each=80, topics=30, seed=1):
    draws = np.random.default_rng(seed)
    tastes = draws.dirichlet(np.full(topics, 0.2), people)
    chosen = np.concatenate([draws.choice(topics, each, p=taste) for taste in tastes])
    order = draws.permutation(people * each)
    return Objects(people=np.repeat(np.arange(people), each)[order], topics=chosen[order])


@pytest.mark.parametrize("ranked_by", ["divergence", "likelihood"])
def test_who_keeps_her_account_is_found(ranked_by):
    objects = community()
    own = Assignment(accounts=60, chosen=objects.people, noise_source="none")
    found = ProfileLinking(ranked_by=ranked_by).attack(objects, own)
    assert found.success == 1
    assert (found.exposed == 1).all()
    assert found.chance == pytest.approx(1 / 60)
    assert found.interval[0] > 0.9


def test_success_falls_with_alpha_towards_chance():
    objects = community()
    rates = []
    for alpha in (0.0, 0.5, 1.0):
        found = ProfileLinking(guesses=10).attack(objects, MediatorAccounts(alpha=alpha).run(objects, Noise(1)))
        rates.append((found.success, found.exposed.mean()))
        assert found.interval[0] <= found.success <= found.interval[1]
    assert rates[0][1] > rates[1][1] > rates[2][1]
    # With alpha 0 she is right far more often than blind guesses of 10 accounts among 60.
    assert rates[0][0] > 2 * 10 / 60
    # All random: the ten accounts hold about a sixth of everybody.
    assert rates[2][1] == pytest.approx(10 / 60, abs=0.05)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_ranks_chances_and_exposure_follow_their_definitions(seed, guesses):
    draws = np.random.default_rng(seed)
    objects = Objects(people=draws.integers(0, 4, 25), topics=draws.integers(0, 4, 25))
    assignment = Assignment(accounts=5, chosen=draws.integers(0, 5, 25), noise_source="none")
    found = ProfileLinking(guesses=guesses).attack(objects, assignment)
    people = topic_counts(objects.people, objects, objects.people_count)
    accounts = topic_counts(assignment.chosen, objects, 5, people.shape[1])
    for person in set(objects.people.tolist()):
        order = np.argsort(divergences(people, accounts)[person], kind="stable")
        held = np.bincount(assignment.chosen[objects.people == person], minlength=5)
        right = np.flatnonzero(held == held.max())
        assert found.ranks[person] == 1 + min(order.tolist().index(account) for account in right)
        assert found.exposed[person] == pytest.approx(held[order[:guesses]].sum() / held.sum())
        picks = [set(draws.permutation(5)[:guesses].tolist()) for _ in range(300)]
        blind = np.mean([bool(pick & set(right.tolist())) for pick in picks])
        # Five standard deviations of a mean of 300: off by chance less than once in a million.
        assert abs(found.chances[person] - blind) <= 5 * 0.5 / np.sqrt(300)


def test_more_guesses_than_accounts_find_everybody():
    objects = community(people=5)
    found = ProfileLinking(guesses=10).attack(objects, MediatorAccounts(alpha=1.0).run(objects, Noise(1)))
    assert found.success == found.chance == 1


def test_people_without_objects_are_not_looked_for():
    objects = Objects(people=np.array([0, 2]), topics=np.array([0, 1]))
    found = ProfileLinking().attack(objects, Assignment(accounts=2, chosen=np.array([0, 1]), noise_source="none"))
    assert np.isnan(found.ranks[1])
    assert len(found.found) == 2


def test_the_adversary_guesses_at_least_once_at_what_was_assigned():
    with pytest.raises(ParameterError, match="guesses"):
        ProfileLinking(guesses=0)
    with pytest.raises(InputError):
        ProfileLinking().attack(community(), Assignment(accounts=2, chosen=np.zeros(3, int), noise_source="none"))
