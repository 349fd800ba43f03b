"""What somebody's queries alone tell of what she marked, whatever is sent with them: an estimate, made at home.

No rule for profiles takes the queries back. An observer who knows how common topics are believes that a topic is held
by Bayes' rule: its odds are multiplied with every query, by

    (1 + g(q)) for a query with topics at or below it,     g(q) = (1 - a)/k  sum of rel at or below it / sum of rel Pr
    (1 - (1 - a)/k) for any other,

where people have k interests, ask about each of them alike, and ask a share a of their queries about anything; other
interests are taken to be as common as their topics. The product is kept for every topic as one number, with the number
of queries, so that neither the queries nor their order need be stored.

It is an estimate: real people ask more about some interests than others, the mapping of words to topics may be wrong,
and an observer with more knowledge does better. It treats topics one by one, unlike the observer of
`aidos.rooms.shield.profile.adversary`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, log1p

from aidos.core.profile import KeptProfile
from aidos.core.topictree import TopicTree
from aidos.rooms.shield.profile.seed import Hits

__all__ = ["ABOUT_ANYTHING", "INTERESTS", "MUCH", "ToldTopic", "told_by_queries", "weigh_query"]

INTERESTS = 20
"""Interests that somebody is taken to have (k)."""
ABOUT_ANYTHING = 0.3
"""The share of queries that are about no interest (a)."""
MUCH = 0.5
"""From this belief on it is said what helps."""
SLIGHT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTopic:
    """A marked topic that queries tell of, and how much an observer of the queries believes that it is held."""

    topic: str
    of_anybody: float
    """Without any query."""
    before: float
    """After all queries that are remembered."""
    now: float
    """After this one as well."""


def weigh_query(tree: TopicTree, hits: Hits, interests: int = INTERESTS) -> dict[str, float]:
    """How much a query adds to the log-odds of each topic that it is about, against a query that is about others."""
    if not len(hits.places):
        return {}
    each = (1.0 - ABOUT_ANYTHING) / interests
    usual = float(hits.scores @ tree.priors[hits.places])
    relevant: dict[int, float] = {}
    for place, score in zip(hits.places.tolist(), hits.scores.tolist(), strict=True):
        for above in tree.with_paths([place]).tolist():
            relevant[above] = relevant.get(above, 0.0) + score
    relevant.pop(0, None)
    return {tree.ids[place]: log1p(each * score / usual) - log1p(-each) for place, score in relevant.items()}


def told_by_queries(
    tree: TopicTree, kept: KeptProfile, hits: Hits, interests: int = INTERESTS
) -> tuple[ToldTopic, ...]:
    """The marked topics that this query or a remembered one is about, those that are told most first."""
    now = weigh_query(tree, hits, interests)
    other = log1p(-(1.0 - ABOUT_ANYTHING) / interests)
    found = []
    for topic in kept.sensitivities:
        if topic not in now and topic not in kept.asked:
            continue
        odds = _odds(float(tree.priors[tree.place(topic)]), interests)
        before = odds + kept.asked.get(topic, 0.0) + kept.queries * other
        after = before + now.get(topic, 0.0) + (other if len(hits.places) else 0.0)
        found.append(ToldTopic(topic=topic, of_anybody=_chance(odds), before=_chance(before), now=_chance(after)))
    return tuple(sorted(found, key=lambda each: -each.now))


def _odds(prior: float, interests: int) -> float:
    """The log-odds that somebody with so many interests holds a topic."""
    spared = interests * log1p(-min(prior, 1.0 - SLIGHT))
    return log(-(exp(spared) - 1.0)) - spared if spared < 0 else -inf


def _chance(odds: float) -> float:
    return 1.0 / (1.0 + exp(-odds)) if odds > -700 else 0.0
