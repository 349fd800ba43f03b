"""The active attack: make accounts, ask what you guess your victim asked, and look whether the release gives her away.

Götz et al. (TKDE 2012, example 1) break k-anonymity with it: k - 1 sybils ask the guessed query, and if it comes out
then somebody else asked it too. Here the attacker is a little stronger, so that the attack can be run against any
mechanism: she rehearses on a log of her own (she knows the mechanism and its parameters, not its randomness) to find
how many sybils bring the guess to the edge of being released, tries one step before the edge and well beyond it, and
chooses the rule that told the two cases apart best. Then the true run, with fresh randomness, is judged by that rule.

The *advantage* is Pr[she says yes | the victim asked] - Pr[she says yes | the victim did not]: 0 is a blind guess, 1 is
certainty. Under (epsilon, delta) differential privacy no attacker whatever has more than `most_advantage` of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import assert_never

import numpy as np

from aidos.core.guarantee import (
    ApproxDP,
    Guarantee,
    KAnonymity,
    NoGuarantee,
    ProbabilisticDP,
    PureDP,
    QualityFloor,
    ZeroConcentratedDP,
)
from aidos.rooms.publish.attacks.distinguisher import Rate
from aidos.rooms.publish.attacks.scenes import Scores, Stage, asked

__all__ = ["SybilResult", "attack_with_sybils", "most_advantage"]

FALLS = 0.5
"""Where nothing is promised, an attacker who is surely this much better than a blind guess has won."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SybilResult:
    """What the attacker achieved."""

    sybils: int
    """Accounts that she made for each guess."""
    hits: Rate
    """Victims who asked the query, and of whom she said so."""
    false_alarms: Rate
    """Victims who did not ask it, and of whom she said that they did."""
    allowed: float | None
    """The most advantage that the guarantee leaves to anybody; None when it leaves all."""
    confidence: float
    """Of the interval, as a probability."""

    @property
    def advantage(self) -> float:
        """Hits minus false alarms, as shares."""
        return self.hits.value - self.false_alarms.value

    @property
    def interval(self) -> tuple[float, float]:
        """The true advantage is inside, with the stated confidence (two Clopper-Pearson intervals, errors shared)."""
        each = 1 - (1 - self.confidence) / 4
        return (
            self.hits.not_below(each) - self.false_alarms.not_above(each),
            self.hits.not_above(each) - self.false_alarms.not_below(each),
        )

    @property
    def falls(self) -> bool:
        """Whether the attack surely won: more than is allowed, or much where everything is allowed."""
        return self.interval[0] > (FALLS if self.allowed is None else self.allowed)

    @property
    def verdict(self) -> str:
        """The same in words."""
        if self.allowed is None:
            return "falls" if self.falls else "no promise, and this attack gained little"
        return "BROKEN PROMISE" if self.falls else "stands"


def attack_with_sybils(
    stage: Stage, *, guarantee: Guarantee, sybils: int | None = None, confidence: float = 0.99
) -> SybilResult:
    """Rehearse, choose, attack; with ``sybils=None`` the attacker finds out how many accounts to make."""
    tactics = stage.tactics() if sybils is None else (sybils,)
    rehearsed = {number: _best_rule(stage.play(number)[:, 0]) for number in tactics}
    chosen = max(rehearsed, key=lambda number: rehearsed[number][0])
    says_yes = stage.play(chosen)[:, 0] >= rehearsed[chosen][1]
    truth = asked(len(says_yes))
    return SybilResult(
        sybils=chosen,
        hits=Rate(int(says_yes[truth].sum()), int(truth.sum())),
        false_alarms=Rate(int(says_yes[~truth].sum()), int((~truth).sum())),
        allowed=most_advantage(guarantee),
        confidence=confidence,
    )


def most_advantage(guarantee: Guarantee) -> float | None:
    """The most advantage that a guarantee leaves to any attacker with any knowledge; None when it bounds nothing.

    From Pr[yes | asked] <= e^epsilon Pr[yes | not] + delta and the same for "no":
    advantage <= (e^epsilon - 1 + 2 delta) / (e^epsilon + 1).
    """
    match guarantee:
        case PureDP(epsilon=epsilon):
            return _bounded(epsilon, 0.0)
        case ApproxDP(epsilon=epsilon, delta=delta) | ProbabilisticDP(epsilon=epsilon, delta=delta):
            return _bounded(epsilon, delta)
        case ZeroConcentratedDP(rho=rho):
            return min(1.0, sqrt(rho / 2))  # Pinsker: the Kullback-Leibler divergence is at most rho
        case KAnonymity() | QualityFloor() | NoGuarantee():
            return None
        case _:
            assert_never(guarantee)


def _bounded(epsilon: float, delta: float) -> float:
    # Divided by e^epsilon, so that large epsilons do not overflow.
    shrink = exp(-epsilon)
    return min(1.0, (1 - shrink + 2 * delta * shrink) / (1 + shrink))


def _best_rule(scores: Scores) -> tuple[float, float]:
    """The advantage in rehearsal of the best rule "yes from this count on", and that count.

    The first rule says yes to whatever comes out, with however low a count; the last one never says yes.
    """
    truth = asked(len(scores))
    rules = [np.finfo(np.float64).min, *np.unique(scores[np.isfinite(scores)]), np.inf]
    advantages = [float((scores[truth] >= rule).mean() - (scores[~truth] >= rule).mean()) for rule in rules]
    best = int(np.argmax(advantages))
    return advantages[best], float(rules[best])
