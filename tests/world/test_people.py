from __future__ import annotations

import numpy as np

from aidos.world.people import ROLE_SHARES, ROLES, news_days, people_block
from aidos.world.size import World
from aidos.world.vocabulary import Vocabulary


def test_a_person_is_the_same_in_worlds_of_every_size(vocabulary: Vocabulary) -> None:
    few = people_block(World(100), vocabulary, 0)
    many = people_block(World(5000), vocabulary, 0)
    for name in ("activity", "utc_offsets", "roles", "role_topics", "interests"):
        assert np.array_equal(getattr(few, name), getattr(many, name)[:100])


def test_blocks_and_seeds_differ(vocabulary: Vocabulary) -> None:
    world = World(5000)
    first = people_block(world, vocabulary, 0).activity
    assert not np.array_equal(first, people_block(world, vocabulary, 1).activity)
    assert not np.array_equal(first, people_block(World(5000, seed=8), vocabulary, 0).activity)


def test_roles_have_their_shares_and_a_sensitive_topic(vocabulary: Vocabulary) -> None:
    world = World(20 * 1024)
    blocks = [people_block(world, vocabulary, block) for block in range(20)]
    roles = np.concatenate([block.roles for block in blocks])
    topics = np.concatenate([block.role_topics for block in blocks])
    shares = np.bincount(roles, minlength=len(ROLES)) / len(roles)
    assert np.abs(shares - ROLE_SHARES).max() < 0.006
    assert (topics[roles == 0] == -1).all()
    assert set(topics[roles > 0].tolist()) == set(vocabulary.sensitive)


def test_activity_is_heavy_tailed_with_mean_one(vocabulary: Vocabulary) -> None:
    world = World(20 * 1024)
    activity = np.concatenate([people_block(world, vocabulary, block).activity for block in range(20)])
    busiest = np.sort(activity)[-len(activity) // 100 :].sum() / activity.sum()
    assert abs(activity.mean() - 1) < 0.04
    assert np.median(activity) < 0.7
    assert 0.07 < busiest < 0.15


def test_interests_are_few_and_sum_to_one(vocabulary: Vocabulary) -> None:
    interests = people_block(World("small"), vocabulary, 0).interests
    assert np.allclose(interests.sum(axis=1), 1)
    assert (interests[:, vocabulary.ordinary :].sum(axis=1) < 0.03).all()
    assert np.median(interests.max(axis=1)) > 0.3


def test_news_breaks_once_a_topic_inside_the_world(vocabulary: Vocabulary) -> None:
    days = news_days(World(), vocabulary)
    assert set(days) == set(vocabulary.sensitive)
    assert all(7 <= day < 83 for day in days.values())
    assert len(set(days.values())) > 3
