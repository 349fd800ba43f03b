"""Profile generalisation once more, straight from the formulas: dictionaries, no seed arrays, every subtree tried.

Nothing is shared with the fast computation but the inputs. Tests compare the two; it is far too slow for anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import log

__all__ = ["PlainCase"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCase:
    """A public tree, a person's interests, what she finds sensitive and the topics of a query, by name."""

    parents: Mapping[str, str]
    """The parent of every topic; that of the root is empty."""
    supports: Mapping[str, float]
    """sup_R of leaves."""
    documents: Mapping[str, float]
    """The person's documents at topics."""
    sensitivities: Mapping[str, float]
    relevances: Mapping[str, float]
    """rel_R(q,t) of T(q)."""

    def children(self, topic: str) -> list[str]:
        """Topics right below."""
        return [child for child, parent in self.parents.items() if parent == topic]

    def path(self, topic: str) -> list[str]:
        """From the topic up to the root."""
        return [topic, *(self.path(self.parents[topic]) if self.parents[topic] else [])]

    @property
    def root(self) -> str:
        """The topic without a parent."""
        return next(topic for topic, parent in self.parents.items() if not parent)

    def support(self, topic: str) -> float:
        """sup_R(t)."""
        below = self.children(topic)
        return sum(map(self.support, below)) if below else self.supports[topic]

    def prior(self, topic: str) -> float:
        """Pr(t)."""
        return self.support(topic) / self.support(self.root)

    def held(self, topic: str) -> float:
        """sup_H(t)."""
        return self.documents.get(topic, 0.0) + sum(map(self.held, self.children(topic)))

    def cost(self, topic: str) -> float:
        """What a held topic gives away."""
        if topic in self.sensitivities:
            return self.sensitivities[topic]
        return sum(self.expected(child) for child in self.children(topic) if self.held(child) > 0)

    def expected(self, topic: str) -> float:
        """cost(t) Pr(t | parent)."""
        return self.cost(topic) * self.support(topic) / self.support(self.parents[topic])

    def preferences(self) -> dict[str, float]:
        """Pr(t|q,H) over T_H(q)."""
        mine = {topic: self.held(topic) for topic in self.relevances if self.held(topic) > 0}
        return {topic: support / sum(mine.values()) for topic, support in mine.items()}

    def seed(self) -> frozenset[str]:
        """G0."""
        return frozenset({self.root}.union(*(self.path(topic) for topic in self.preferences())))

    def atoms(self, shown: frozenset[str]) -> list[tuple[str, float, float]]:
        """Where it is, preference and prior: leaves of G and shadows."""
        found = []
        for topic in shown:
            retained = [child for child in self.children(topic) if child in shown]
            lost = sum(
                share
                for leaf, share in self.preferences().items()
                if topic in self.path(leaf) and not set(retained) & set(self.path(leaf))
            )
            if lost > 0:
                found.append((topic, lost, self.prior(topic) - sum(map(self.prior, retained))))
        return found

    def power(self, shown: frozenset[str]) -> float:
        """DP(q,G)."""
        scale = 2 * sum(-share * log(self.prior(topic)) for topic, share in self.preferences().items())
        if scale == 0:
            return 0.0
        atoms = self.atoms(shown)
        common = set.intersection(*(set(self.path(topic)) for topic, _, _ in atoms))
        told = sum(share * log(share / prior) for _, share, prior in atoms)
        return (told - min(log(self.prior(topic)) for topic in common)) / scale

    def risk(self, shown: frozenset[str], form: str) -> float:
        """What a pruned profile gives away."""
        total = sum(weight for topic, weight in self.sensitivities.items() if self.held(topic) > 0)
        if form == "paper":
            return self._paper(self.root, shown) / total if total else 0.0
        left = total - self.cost(self.root)
        return (self._excess(self.root, shown) - self.cost(self.root)) / left if left > 1e-12 * total else 0.0

    def subtrees(self, topic: str) -> Iterator[frozenset[str]]:
        """Every G below the seed that keeps this topic, from it downwards."""
        seed = self.seed()
        below = [child for child in self.children(topic) if child in seed]
        for chosen in product(*([frozenset(), *self.subtrees(child)] for child in below)):
            yield frozenset({topic}).union(*chosen)

    def best(self, limit: float, form: str) -> float:
        """The largest DP of any G within the limit; 0, that of the root, where there is none."""
        fitting = (shown for shown in self.subtrees(self.root) if self.risk(shown, form) <= limit + 1e-12)
        return max(map(self.power, fitting), default=0.0)

    def _paper(self, topic: str, shown: frozenset[str]) -> float:
        below = [child for child in self.children(topic) if child in shown]
        return sum(self._paper(child, shown) for child in below) if below else self.cost(topic)

    def _excess(self, topic: str, shown: frozenset[str]) -> float:
        if topic in self.sensitivities:
            return self.sensitivities[topic]
        below = [child for child in self.children(topic) if self.held(child) > 0]
        return sum(self._excess(child, shown) if child in shown else self.expected(child) for child in below)
