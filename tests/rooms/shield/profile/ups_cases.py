"""The worked example of the spec and random cases, each both for the fast code and for the plain one."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aidos.core.profile import Requirement
from aidos.core.taxonomy import Profile, Taxonomy, Topic
from aidos.core.topictree import TopicTree
from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile
from aidos.rooms.shield.profile.seed import SeedProfile
from oracles.generalisation import PlainCase


class Hits(NamedTuple):
    places: np.ndarray
    scores: np.ndarray


@dataclass
class Case:
    plain: PlainCase
    taxonomy: Taxonomy
    tree: TopicTree
    held: HeldProfile
    layer: CostLayer
    hits: Hits

    @property
    def seed(self):
        return SeedProfile.of(self.tree, self.held, self.layer, self.hits)

    def names(self, seed, rows):
        return [self.tree.ids[seed.places[row]] for row in rows]

    def rows(self, seed, names):
        places = {int(place): row for row, place in enumerate(seed.places)}
        return [places[self.tree.places[name]] for name in names]


def case_of(parents, supports, documents, sensitivities, relevances):
    plain = PlainCase(
        parents=parents,
        supports=supports,
        documents=documents,
        sensitivities=sensitivities,
        relevances=relevances,
    )
    taxonomy = Taxonomy.of(Topic(name, parent, name) for name, parent in parents.items())
    tree = TopicTree.of(taxonomy, supports)
    held = HeldProfile.of(tree, Profile(documents))
    places = np.array([tree.places[name] for name in relevances], np.int32)
    layer = CostLayer.of(tree, held, Requirement(sensitivities))
    return Case(plain, taxonomy, tree, held, layer, Hits(places, np.array(list(relevances.values()), float)))


def golden():
    parents = {
        "root": "",
        **dict.fromkeys(["Arts", "Sports", "Health"], "root"),
        **dict.fromkeys(["Music", "Painting"], "Arts"),
        **dict.fromkeys(["EaglesBand", "Jazz"], "Music"),
        **dict.fromkeys(["Football", "IceSkating"], "Sports"),
        **dict.fromkeys(["EaglesNFL", "GiantsNFL"], "Football"),
        **dict.fromkeys(["Figure", "Speed"], "IceSkating"),
        **dict.fromkeys(["Diet", "Depression"], "Health"),
    }
    supports = {"Painting": 4, "EaglesBand": 2, "Jazz": 2, "EaglesNFL": 3, "GiantsNFL": 1}
    supports |= {"Figure": 2, "Speed": 2, "Diet": 4, "Depression": 4}
    documents = {"EaglesBand": 6, "EaglesNFL": 3, "Figure": 2, "Speed": 1, "Depression": 4}
    relevances = dict.fromkeys(["EaglesBand", "EaglesNFL", "Figure"], 1.0)
    return case_of(parents, supports, documents, {"Figure": 2, "Depression": 5}, relevances)


def random_case(draws, topics=30, asked=8, sensitive=0.3, held=0.7):
    """A random tree with random supports, interests, sensitive topics without overlap, and topics of a query."""
    above = [-1] + [int(draws.integers(max(0, i - 12), i)) for i in range(1, topics)]
    names = [f"t{i}" for i in range(topics)]
    parents = {names[i]: names[above[i]] if i else "" for i in range(topics)}
    inner = set(above)
    leaves = [i for i in range(topics) if i not in inner]
    supports = {names[i]: float(draws.uniform(0.2, 5)) for i in leaves}
    documents = {names[i]: float(draws.integers(1, 20)) for i in range(1, topics) if draws.random() < held}
    relevances = antichain(draws.permutation(range(1, topics)).tolist(), above, asked)
    chosen = antichain(draws.permutation(range(1, topics)).tolist(), above, max(1, int(sensitive * topics)))
    return case_of(
        parents,
        supports,
        documents,
        {names[i]: float(draws.uniform(0.5, 3)) for i in chosen},
        {names[i]: float(draws.uniform(0.3, 1)) for i in relevances},
    )


def antichain(order, above, most):
    """The first topics of an order none of which is above another."""

    def path(i):
        return {i} | (path(above[i]) if i > 0 else set())

    found = []
    for i in order:
        if len(found) < most and all(i not in path(j) and j not in path(i) for j in found):
            found.append(i)
    return found
