"""How near is near enough: below a least nearness a number says nothing about a person, whatever place it gives her.

The formulas of the thesis give everybody a number. Measures with D give about one half to somebody who is near nothing,
and by any measure somebody comes first, also for a topic that nobody wrote about. So beside every rank stands the plain
topical part of its risk, which is the nearness of her nearest entry to the topic; ranks of people who do not come
nearer than `LEAST_NEARNESS` are computed like all others, and told as *no evidence*.

    bow, lda   0.1. In the sample world 99 of 100 people who have no word of a topic are below 0.02 by lda, and nearly
               all who have one word of it; a post with one of twenty words, and no word of another topic, is at 0.22.
    w2v        0.7. Word vectors find everything a little like everything: people without a word of a topic are near
               0.6, and 0.9 takes several. It depends on the vectors more than in the other spaces.

For the baselines, which count words, evidence is one word of the topic. Nothing is known of measures of third parties:
their numbers are taken as they are. This is a rule of thumb against reading noise; it is no test of significance.
"""

from __future__ import annotations

from collections.abc import Mapping

from aidos.exposure.risk.measure import RiskMeasure
from aidos.exposure.risk.spaces import SpaceName
from aidos.exposure.risk.topical import TopicalRisk

__all__ = ["LEAST_NEARNESS", "least_nearness"]

LEAST_NEARNESS: Mapping[SpaceName, float] = {"bow": 0.1, "lda": 0.1, "w2v": 0.7}
"""What the nearest entry must exceed to be evidence, by space."""


def least_nearness(measure: RiskMeasure) -> float:
    """What somebody's nearness must exceed for a rank to say anything about her."""
    return LEAST_NEARNESS[measure.space] if isinstance(measure, TopicalRisk) else 0.0
