"""Held profiles and requirements: what is taken, what is refused, and what each topic costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ups_cases import golden, random_case

from aidos.core.profile import Requirement
from aidos.core.taxonomy import Profile, Taxonomy, Topic
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile, default_requirement

MARKED = Taxonomy.of(
    [
        Topic("root", "", "All"),
        Topic("health", "root", "Health", "health"),
        Topic("mind", "health", "Mind", "mental-health"),
        Topic("food", "root", "Food"),
        Topic("debt", "food", "Debt", "money"),
    ]
)


def test_documents_add_up_and_topics_of_no_support_are_not_held():
    tree = TopicTree.of(MARKED)
    held = HeldProfile.of(tree, Profile({"mind": 2, "health": 1, "debt": 0}))
    assert dict(zip(tree.ids, held.supports.tolist(), strict=True)) == {
        "root": 3, "health": 3, "mind": 2, "food": 0, "debt": 0,
    }  # fmt: skip
    assert [tree.ids[place] for place in held.places] == ["root", "health", "mind"]
    assert len(held) == 3


def test_a_profile_of_another_taxonomy_is_refused_by_name():
    with pytest.raises(InputError, match="2 of the profile's topics: golf, opera") as caught:
        HeldProfile.of(TopicTree.of(MARKED), Profile({"golf": 1, "food": 2, "opera": 1}))
    assert "taxonomy" in caught.value.hint


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_sensitivities_are_refused_by_name(weight):
    with pytest.raises(ParameterError, match=r"above 0 and finite.*debt"):
        Requirement({"debt": weight, "mind": 1.0})


def test_overlapping_subtrees_are_refused_with_both_names_and_can_be_merged():
    tree = TopicTree.of(MARKED)
    held = HeldProfile.of(tree, Profile({"mind": 1, "debt": 1}))
    overlapping = Requirement({"health": 1.0, "mind": 3.0, "debt": 2.0})
    with pytest.raises(InputError, match="mind is below health") as caught:
        CostLayer.of(tree, held, overlapping)
    assert "merge" in caught.value.hint
    merged = overlapping.merged(tree)
    assert merged == Requirement({"health": 3.0, "debt": 2.0})
    assert CostLayer.of(tree, held, merged).total == 5.0


def test_unknown_sensitive_topics_are_refused():
    tree = TopicTree.of(MARKED)
    with pytest.raises(ParameterError, match="no topic 'golf'"):
        CostLayer.of(tree, HeldProfile.of(tree, Profile({})), Requirement({"golf": 1.0}))


def test_the_default_takes_the_topmost_sensitive_topics_that_are_held():
    assert default_requirement(MARKED, Profile({"mind": 1, "food": 2, "debt": 0})) == Requirement({"health": 1.0})
    weighed = default_requirement(MARKED, Profile({"mind": 1, "debt": 2}), {"money": 4.0})
    assert weighed == Requirement({"health": 1.0, "debt": 4.0})
    with pytest.raises(ParameterError, match="category 'sports'") as caught:
        default_requirement(MARKED, Profile({}), {"sports": 1.0})
    assert "mental-health" in caught.value.hint


def test_sensitive_topics_that_are_not_held_cost_nothing():
    tree = TopicTree.of(MARKED)
    layer = CostLayer.of(tree, HeldProfile.of(tree, Profile({"food": 1})), Requirement({"health": 2.0}))
    assert layer.total == 0
    assert not layer.costs.any()


@given(st.integers(0, 10**9))
def test_costs_are_the_plain_formula(number):
    case = random_case(np.random.default_rng(number), topics=25)
    for name, place in case.tree.places.items():
        expected = case.plain.cost(name) if case.plain.held(name) > 0 else 0.0
        assert case.layer.costs[place] == pytest.approx(expected)
        assert case.held.supports[place] == pytest.approx(case.plain.held(name))


def test_a_parent_of_two_equal_children_costs_half():
    case = golden()
    places = case.tree.places
    assert case.layer.costs[places["Health"]] == case.layer.costs[places["Depression"]] / 2
