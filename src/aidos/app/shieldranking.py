"""Results in the searcher's own order: from a list and a profile to places, and why each result moved.

The profile acts through the topics that would be sent and no others, so that the order on the screen, and the clicks
that follow from it, tell no more than the profile would. Queries that need no profile keep the service's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aidos.app.resultlists import FoundResult
from aidos.app.shielding import Shield
from aidos.rooms.shield.profile.decision import Decision
from aidos.rooms.shield.profile.rerank import Results, leaves_of, rerank, topic_relevances, user_scores
from aidos.rooms.shield.profile.siterules import SiteRules

__all__ = ["Reranked", "rerank_results"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reranked:
    """A list in its new order."""

    order: tuple[int, ...]
    """Places in the old list, counted from 0; those of blocked sites are not in it."""
    reasons: tuple[str, ...]
    """For each place of the old list: the topic or rule that speaks for or against it; empty where nothing does."""
    decision: Decision | None
    """What of the profile was used; None without a profile."""


def rerank_results(
    results: Sequence[FoundResult],
    *,
    shield: Shield | None = None,
    query: str = "",
    rules: SiteRules | None = None,
    weight: float = 0.5,
) -> Reranked:
    """Re-rank by a profile, by rules about sites, or by both."""
    decision = shield.decide(query) if shield is not None else None
    reasons = [""] * len(results)
    scores = None
    if shield is not None and decision is not None and decision.is_sent:
        leaves = leaves_of(shield.search.tree, decision.sent)
        found = [shield.search.find(each.text) for each in results]
        relevances = topic_relevances(shield.search.tree, leaves, found)
        scores = user_scores(shield.held, leaves, relevances)
        pull = relevances * shield.held.supports[leaves]
        for row in np.flatnonzero(scores > 0).tolist():
            reasons[row] = shield.topics[shield.search.tree.ids[leaves[int(pull[row].argmax())]]].name
    listed = Results(object_ids=tuple(map(str, range(len(results)))), sites=tuple(each.site for each in results))
    ranking = rerank(listed, scores, weight=weight, rules=rules)
    if rules is not None:
        reasons = [_with_rule(reason, rules, each.site) for reason, each in zip(reasons, results, strict=True)]
    return Reranked(order=tuple(map(int, ranking.object_ids)), reasons=tuple(reasons), decision=decision)


def _with_rule(reason: str, rules: SiteRules, site: str) -> str:
    if rules.is_blocked(site):
        return "blocked"
    strength = rules.strength(site)
    rule = "" if not strength else f"site moved {'up' if strength > 0 else 'down'} by {abs(strength)}"
    return "; ".join(part for part in (reason, rule) if part)
