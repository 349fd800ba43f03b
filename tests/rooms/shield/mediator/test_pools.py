"""Pools are as many as fill, the least frequent topics share one, and nothing is remembered of people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.noise import Noise
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.accounts import MediatorAccounts
from aidos.rooms.shield.mediator.assignment import Mediator
from aidos.rooms.shield.mediator.objects import Objects
from aidos.rooms.shield.mediator.pools import form_pools


@st.composite
def logs(draw):
    number = draw(st.integers(2, 60))
    people = draw(st.lists(st.integers(0, 8), min_size=number, max_size=number))
    topics = draw(st.lists(st.integers(0, 6), min_size=number, max_size=number))
    return Objects(people=np.array(people), topics=np.array(topics))


def fits(objects, least, people, most):
    """Whether pools with this threshold are full, written out."""
    topics = objects.topics.tolist()
    pools = [topic if topics.count(topic) >= least else "others" for topic in topics]
    askers = [len({who for who, pool in zip(objects.people.tolist(), pools, strict=True) if pool == each})
              for each in set(pools)]  # fmt: skip
    return min(askers) >= people and len(askers) <= (most or len(askers))


@given(logs(), st.integers(2, 4), st.sampled_from([None, 1, 3]))
def test_the_threshold_is_the_least_power_of_two_that_fills_all_pools(objects, people, most):
    if len(set(objects.people.tolist())) < people:
        with pytest.raises(InputError, match="cannot fill a pool"):
            form_pools(objects, people, most)
        return
    pools = form_pools(objects, people, most)
    assert fits(objects, pools.least_queries, people, most)
    smaller = 1
    while smaller < pools.least_queries:
        assert not fits(objects, smaller, people, most)
        smaller *= 2
    assert smaller == pools.least_queries
    chosen = pools.of(objects.topics)
    assert set(chosen.tolist()) == set(range(pools.accounts))
    counts = np.bincount(objects.topics)
    for one, other in zip(*np.nonzero(np.ones((7, 7))), strict=True):
        there = (objects.topics == one).any() and (objects.topics == other).any()
        if there and one != other:
            together = pools.of(np.array([one]))[0] == pools.of(np.array([other]))[0]
            assert together == (max(counts[one], counts[other]) < pools.least_queries)


def test_topics_that_nobody_asked_go_to_a_pool_that_is_full():
    objects = Objects(people=np.tile(np.arange(3), 4), topics=np.repeat([0, 0, 0, 5], 3))
    pools = form_pools(objects, 3)
    assert pools.accounts == 2
    assert pools.of(np.array([0, 1, 5, 9])).tolist() == [0, 0, 1, 0]
    rare = Objects(people=np.array([0, 1, 2, 0, 1]), topics=np.array([0, 0, 0, 1, 2]))
    pools = form_pools(rare, 2)
    assert pools.least_queries == 2
    assert pools.of(np.array([0, 1, 2, 3, 77])).tolist() == [0, 1, 1, 1, 1]


def test_a_mediator_remembers_sizes_and_nothing_of_people():
    objects = Objects(people=np.arange(40) % 5, topics=np.arange(40) % 2)
    mechanism = MediatorAccounts(people_per_pool=5)
    mediator = Mediator(mechanism, noise=Noise(), pools=form_pools(objects, 5))
    single = [mediator.assign(int(who), int(topic)) for who, topic in zip(objects.people, objects.topics, strict=True)]
    made = mechanism.run(objects, Noise())
    assert single == made.chosen.tolist()
    assert mediator.sizes.tolist() == [20, 20]
    assert set(vars(mediator.state)) == {"pools", "sizes"}
    assert made.noise_source == "nothing is random"


def test_what_does_not_fit_pools_is_refused():
    objects = Objects(people=np.arange(40) % 5, topics=np.arange(40) % 2)
    with pytest.raises(ParameterError, match="alpha"):
        MediatorAccounts(alpha=0.3)
    with pytest.raises(ParameterError, match="same-topic"):
        MediatorAccounts(similarity="cosine")
    with pytest.raises(ParameterError, match="people_per_pool"):
        MediatorAccounts(people_per_pool=1)
    with pytest.raises(ParameterError, match="needs pools"):
        Mediator(MediatorAccounts(), noise=Noise(), people=5)
    pools = form_pools(objects, 5)
    with pytest.raises(ParameterError, match="no other mediator"):
        Mediator(MediatorAccounts(heuristic="original"), noise=Noise(), people=5, pools=pools)
    mediator = Mediator(MediatorAccounts(), noise=Noise(), pools=pools)
    with pytest.raises(InputError, match="no alpha"):
        mediator.assign(0, 0, alpha=0.5)
    with pytest.raises(ParameterError, match="at least one pool"):
        form_pools(objects, 5, 0)
