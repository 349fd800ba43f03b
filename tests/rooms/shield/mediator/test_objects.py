"""What objects are refused, and what is said about them."""

import numpy as np
import pytest

from aidos.errors import InputError
from aidos.rooms.shield.mediator.objects import Objects, TopicVectors


@pytest.mark.parametrize(
    ("weights", "words"), [([1.0, float("nan")], "not a number"), ([1.0, -1.0], "negative"), ([1.0], "2 topics but 1")]
)
def test_weights_must_be_numbers(weights, words):
    with pytest.raises(InputError, match=words):
        TopicVectors(starts=np.array([0, 1, 2]), topics=np.array([0, 1]), weights=np.array(weights))


@pytest.mark.parametrize("starts", [[0, 3], [1, 2], [0, 2, 1, 2], []])
def test_starts_must_rise_to_the_end(starts):
    with pytest.raises(InputError, match="starts"):
        TopicVectors(starts=np.array(starts, dtype=int), topics=np.array([0, 1]), weights=np.ones(2))


def test_a_topic_stands_once_in_a_vector():
    with pytest.raises(InputError, match="twice"):
        TopicVectors(starts=np.array([0, 2]), topics=np.array([3, 3]), weights=np.ones(2))


def test_vectors_are_put_in_order_and_lose_their_zeros():
    given = TopicVectors(starts=np.array([0, 3, 3]), topics=np.array([5, 2, 1]), weights=np.array([4.0, 0.0, 3.0]))
    assert given.topics.tolist() == [1, 5]
    assert given.starts.tolist() == [0, 2, 2]
    assert given.unit_rows().weights.tolist() == pytest.approx([0.6, 0.8])
    assert given.taken(np.array([1, 0])).starts.tolist() == [0, 0, 2]


def test_huge_and_tiny_weights_have_a_direction():
    given = TopicVectors(
        starts=np.array([0, 2, 3]), topics=np.array([0, 1, 0]), weights=np.array([1e300, 1e300, 5e-324])
    )
    assert given.unit_rows().weights.tolist() == pytest.approx([0.5**0.5, 0.5**0.5, 1.0])


@pytest.mark.parametrize(
    ("people", "topics", "words"),
    [
        ([0, -1], [0, 0], "people must be numbered"),
        ([0, 1], [0, 2**31], "topics must be numbered"),
        ([0], [0, 0], "1 people but 2 topics"),
        ([0.5], [0], "whole numbers"),
        ([[0]], [0], "dimensions"),
    ],
)
def test_numbers_must_be_numbers(people, topics, words):
    with pytest.raises(InputError, match=words):
        Objects(people=np.array(people), topics=np.array(topics))


def test_alphas_must_fit():
    one = {"people": np.zeros(2, int), "topics": np.zeros(2, int)}
    with pytest.raises(InputError, match="2 objects but 1 alphas"):
        Objects(**one, alphas=np.array([0.1]))
    with pytest.raises(InputError, match="between 0 and 1"):
        Objects(**one, alphas=np.array([0.1, np.nan]))
    with pytest.raises(InputError, match="person 4 is unknown"):
        Objects(people=np.array([4]), topics=np.array([0])).with_person_alphas([0.1, 0.2])
