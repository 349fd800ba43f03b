"""What accounts tell about who asked, by listing every case of small worlds: nothing, one number, or epsilon."""

from collections import defaultdict
from itertools import combinations_with_replacement, product
from math import exp, isclose, log, log2

import numpy as np
import pytest

from aidos.core.noise import Noise
from aidos.errors import InputError
from aidos.rooms.shield.mediator.accounts import MediatorAccounts
from aidos.rooms.shield.mediator.assignment import Mediator
from aidos.rooms.shield.mediator.objects import Objects
from aidos.rooms.shield.mediator.pools import form_pools
from aidos.rooms.shield.mediator.states import ChunkState

QUERIES, PEOPLE, TOPICS, ENOUGH = 5, 3, 3, 2


def pooled(objects):
    """The accounts with pools, and the one number that they may tell."""
    pools = form_pools(objects, ENOUGH)
    return MediatorAccounts(people_per_pool=ENOUGH).run(objects, Noise()).chosen.tolist(), pools.least_queries


def pooled_by_people(objects):
    """A mutation: topics of too few people share an account, as one would do it first."""
    people = [len(set(objects.people[objects.topics == topic].tolist())) for topic in range(TOPICS)]
    return [int(topic) if people[topic] >= ENOUGH else TOPICS for topic in objects.topics], 1


def pooled_after_others(objects):
    """A mutation: an account for every topic, but a person's first query goes elsewhere."""
    chosen, least = pooled(objects)
    _, firsts = np.unique(objects.people, return_index=True)
    return [account + (place in firsts) for place, account in enumerate(chosen)], least


def by_person(objects):
    """A mutation: the thesis' heuristic at alpha 0, whose chunks stay together."""
    chosen = MediatorAccounts(heuristic="original", alpha=0.0, accounts=3).run(objects, Noise(1)).chosen
    return chosen.tolist(), 1


def check_blindness(assign):
    """For every log of five queries: given topics and the number told, accounts are the same whoever asked."""
    for topics in combinations_with_replacement(range(TOPICS), QUERIES):
        outcomes = defaultdict(set)
        for people in product(range(PEOPLE), repeat=QUERIES):
            if len(set(people)) < ENOUGH:
                continue
            objects = Objects(people=np.array(people), topics=np.array(topics))
            chosen, told = assign(objects)
            outcomes[told].add(tuple(chosen))
            for account in set(chosen):
                assert len({who for who, where in zip(people, chosen, strict=True) if where == account}) >= ENOUGH
        assert all(len(seen) == 1 for seen in outcomes.values()), "accounts tell who asked"
        assert len(outcomes) <= 2 + log2(max(map(topics.count, topics))), "too much is told"


def test_with_pools_accounts_tell_one_number_and_nothing_else():
    check_blindness(pooled)


@pytest.mark.parametrize("mutation", [pooled_by_people, pooled_after_others, by_person])
def test_the_check_fails_where_accounts_depend_on_who_asks(mutation):
    with pytest.raises(AssertionError):
        check_blindness(mutation)


def test_with_pools_of_an_earlier_log_accounts_tell_nothing():
    earlier = Objects(people=np.array([0, 1, 0, 1, 2, 0, 1]), topics=np.array([0, 0, 0, 0, 1, 1, 2]))
    pools = form_pools(earlier, ENOUGH)
    mechanism = MediatorAccounts(people_per_pool=ENOUGH)
    for topics in product(range(TOPICS + 1), repeat=4):
        seen = set()
        for people in product(range(PEOPLE), repeat=4):
            mediator = Mediator(mechanism, noise=Noise(), pools=pools)
            seen.add(tuple(mediator.assign(who, topic) for who, topic in zip(people, topics, strict=True)))
        assert len(seen) == 1
    assert mechanism.epsilon(pools.accounts) == 0


def word(number, among):
    """A random word that picks this number among so many."""
    return np.uint64(int((number + 0.5) / among * 2**53) << 11)


def law(history, person, topic, accounts, alpha):
    """The exact law of the next account: every coin and every pick, weighted by its probability."""
    chances = np.zeros(accounts)
    people, topics, chosen = (list(each) for each in zip(*history, strict=True))
    for scatters, pick in product((True, False), range(accounts)):
        state = ChunkState(accounts)
        coin = np.uint64(0) if scatters else np.uint64(2**64 - 1)
        words = [[np.uint64(0), word(where, accounts)] for where in chosen] + [[coin, word(pick, accounts)]]
        objects = Objects(people=np.array([*people, person]), topics=np.array([*topics, topic]))
        account = state.assign(objects, np.array([1.0] * len(history) + [alpha]), np.array(words, dtype=np.uint64))[-1]
        chances[account] += (alpha if scatters else 1 - alpha) / accounts
    return chances


@pytest.mark.parametrize(("accounts", "alpha"), [(3, 0.3), (3, 0.8), (2, 0.5)])
def test_the_thesis_heuristic_is_local_differential_privacy_with_the_epsilon_told_and_no_less(accounts, alpha):
    told = MediatorAccounts(heuristic="original", alpha=alpha).epsilon(accounts)
    assert told == pytest.approx(log(1 + (1 - alpha) * accounts / alpha))
    steps = list(product(range(2), range(2), range(accounts)))
    largest = 0.0
    for history in product(steps, repeat=2):
        for topic in range(2):
            laws = [law(history, person, topic, accounts, alpha) for person in range(2)]
            assert all(isclose(each.sum(), 1) for each in laws)
            largest = max(largest, float((laws[0] / laws[1]).max()), float((laws[1] / laws[0]).max()))
    assert largest == pytest.approx(exp(told))


def test_what_tells_all_or_nothing_says_so():
    assert MediatorAccounts(heuristic="original", alpha=0.0).epsilon(9) is None
    assert MediatorAccounts(heuristic="commons", alpha=0.5).epsilon(9) is None
    assert MediatorAccounts(heuristic="original", alpha=1.0).epsilon(9) == 0
    assert MediatorAccounts(heuristic="original", alpha=0.0).epsilon(1) == 0
    assert MediatorAccounts(heuristic="original", similarity="cosine").epsilon(9) == 0
    assert "nothing about who asked" in MediatorAccounts().promise.reason
    assert "at least 7 people" in MediatorAccounts(people_per_pool=7).promise.reason


def test_too_few_people_are_refused():
    with pytest.raises(InputError, match="1 people cannot fill"):
        form_pools(Objects(people=np.zeros(9, int), topics=np.arange(9)), ENOUGH)
