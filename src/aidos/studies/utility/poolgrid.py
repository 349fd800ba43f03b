"""Noise, thresholds and limits of the pool release, scaled from the paper's log to any other (Zhang et al. 2016).

The paper tries b and K from 10 to 500 on the AOL log of 2006: 657,426 people who asked 21,011,340 times. Counts of a
smaller log are smaller, and K = 500 lets nothing through there. So the numbers go with the log:

    b and K     times the log's askings / 21,011,340, and at least times 1/100: then K = 500 becomes 5, below which the
                paper drops queries anyway
    q_f         (queries, clicks and transitions of a person that count) times the askings of a person / those of AOL

All keep two digits, K and q_f are whole numbers and at least 1, and values that become the same are tried once. Every
count then stands to K and b as in the paper. What does not stay is the price: a person's limit does not shrink with the
log and b does, so a log of a tenth of the people needs ten times the epsilon for the same rankings.

The rule looks at the log, and is for findings. The paper does not print q_f: 100 is what its epsilon of 29.99 at b = 10
suggests, 3 x 100 / 10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aidos.studies.utility.plan import UtilityPlan

__all__ = ["AOL_ASKINGS", "AOL_PEOPLE", "PoolGrid", "fit_grid"]

AOL_PEOPLE, AOL_ASKINGS = 657_426, 21_011_340
"""People, and queries that they asked, in the log of the paper."""
LEAST_SCALE = 0.01
"""Of b and K."""
TABLES = 3
"""Queries, clicks and transitions, each with noise of scale b."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolGrid:
    """What is tried of the pool release; the paper's numbers unless given."""

    noise_scales: tuple[float, ...] = (10.0, 50.0, 100.0, 500.0)
    """b."""
    thresholds: tuple[int, ...] = (10, 100, 500)
    """K."""
    usual_noise: float = 10.0
    """b of tables 4 and 5."""
    usual_threshold: int = 500
    """K there."""
    limit: int = 100
    """q_f, and as many clicks and transitions."""
    scale: float = 1.0
    """What b and K of the paper were multiplied by."""
    depth: float = 1.0
    """What q_f of the paper was multiplied by."""

    @property
    def epsilon(self) -> float:
        """What the usual numbers would promise, by the paper's count: q_f / b for each of three tables."""
        return TABLES * self.limit / self.usual_noise

    def scaled(self, people: int, askings: int) -> PoolGrid:
        """The same for a log of so many people who asked so often."""
        scale = max(LEAST_SCALE, askings / AOL_ASKINGS)
        depth = (askings / people) / (AOL_ASKINGS / AOL_PEOPLE)
        return PoolGrid(
            noise_scales=tuple(dict.fromkeys(_two_digits(each * scale) for each in self.noise_scales)),
            thresholds=tuple(dict.fromkeys(_whole(each * scale) for each in self.thresholds)),
            usual_noise=_two_digits(self.usual_noise * scale),
            usual_threshold=_whole(self.usual_threshold * scale),
            limit=_whole(self.limit * depth),
            scale=scale,
            depth=depth,
        )


def fit_grid(plan: UtilityPlan, people: int, askings: int) -> PoolGrid:
    """The paper's numbers scaled to a log, but what the plan names as it is named."""
    scaled = PoolGrid().scaled(people, askings)
    return replace(
        scaled,
        noise_scales=plan.noise_scales or scaled.noise_scales,
        thresholds=plan.thresholds or scaled.thresholds,
        usual_noise=plan.usual_noise or scaled.usual_noise,
        usual_threshold=plan.usual_threshold or scaled.usual_threshold,
        limit=plan.pool_limit or scaled.limit,
    )


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def _whole(value: float) -> int:
    return max(1, round(_two_digits(value)))
