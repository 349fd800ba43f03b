"""Guarantees are values that speak plainly."""

import dataclasses
import pickle
from math import e

import pytest

from aidos.core import guarantee as g

ALL = [
    g.PureDP(epsilon=1),
    g.ApproxDP(epsilon=1, delta=1e-6),
    g.ProbabilisticDP(epsilon=2, delta=0.01),
    g.ZeroConcentratedDP(rho=0.1),
    g.KAnonymity(k=5),
    g.QualityFloor(measure="nDCG", at_least=0.8),
    g.NoGuarantee("the noise came from a seed"),
]


@pytest.mark.parametrize("guarantee", ALL, ids=lambda guarantee: type(guarantee).__name__)
def test_every_guarantee_is_a_frozen_value_with_a_sentence(guarantee):
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee
    assert hash(guarantee) == hash(pickle.loads(pickle.dumps(guarantee)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(guarantee, dataclasses.fields(guarantee)[0].name, 0)
    sentence = g.statement(guarantee)
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_union_lists_every_kind():
    assert set(g.Guarantee.__args__) == {type(guarantee) for guarantee in ALL}


def test_sentence_names_the_neighbours_the_unit_and_the_factor():
    add = g.statement(g.ApproxDP(epsilon=1, delta=1e-6))
    assert "Adding or removing one person (client_id)" in add
    assert f"{e:.3g}" in add
    assert "1e-06" in add
    replace = g.statement(g.PureDP(epsilon=1, neighbours=g.Neighbours.REPLACE_ONE))
    assert "Replacing all the data of one person" in replace


def test_weak_promises_say_that_they_are_weak():
    assert "attacker who can add data" in g.statement(g.KAnonymity(k=5))
    assert g.statement(g.NoGuarantee("why")).startswith("No guarantee")
