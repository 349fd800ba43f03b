"""Which releases each experiment simulates: the grids behind the tables and figures of the papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from aidos.errors import ParameterError
from aidos.studies.utility.plan import ORIGINAL, PAPER, Experiment, Job, Setting, UtilityPlan
from aidos.studies.utility.releases import COMPARED, DRAWING, FEWEST, REPLACING, guarantee_of, is_possible

__all__ = ["jobs_of"]

FIRST = 1
"""The limit on items at which the paper varies the strength (figures 4, 5 and 7)."""


def jobs_of(experiment: Experiment, plan: UtilityPlan, kinds: Sequence[str]) -> list[Job]:
    """The work of an experiment on a log with these kinds, the longest first."""
    makers = {
        "statistics": _statistics,
        "caching": _caching,
        "substitution": _substitution,
        "mechanisms": _mechanisms,
    }
    if experiment not in makers:
        raise ParameterError(f"{experiment} has no grid of histograms")
    chosen = [kind for kind in plan.kinds if kind in kinds]
    return sorted(dict.fromkeys(makers[experiment](plan, chosen)), key=_length, reverse=True)


def _statistics(plan: UtilityPlan, kinds: Sequence[str]) -> Iterator[Job]:
    """Tables 3 and 4, figures 2 to 5: limits at the usual strength, strengths at one item, every k."""
    for kind in kinds:
        yield Job(experiment="statistics", setting=Setting(mechanism=ORIGINAL), kind=kind)
        for setting in (
            *plan.grid((plan.usual_epsilon,), plan.items_per_person),
            *plan.grid((*plan.epsilons, plan.usual_epsilon), (FIRST,)),
        ):
            yield Job(experiment="statistics", setting=setting, kind=kind)
    for setting in plan.anonymous():
        yield Job(experiment="statistics", setting=setting)


def _caching(plan: UtilityPlan, kinds: Sequence[str]) -> Iterator[Job]:  # noqa: ARG001 - all take the same
    """Figure 6: the log itself, every k, strengths at the cache's limit on keywords, limits at the usual strength.

    Other mechanisms than the paper's with them, at the delta that mechanisms are compared at, where they can be.
    """
    strengths = product((*plan.epsilons, plan.usual_epsilon), (plan.cache_items,))
    limits = product((plan.usual_epsilon,), (*plan.items_per_person, plan.cache_items))
    places = list(dict.fromkeys((*strengths, *limits)))
    others = (
        each for name in _compared(plan) if name != PAPER for place in places for each in plan.equal(name, *place)
    )
    for setting in (
        Setting(mechanism=ORIGINAL),
        *plan.anonymous(),
        *(each for place in places for each in plan.paper(*place)),
        *filter(is_possible, others),
    ):
        yield Job(experiment="caching", setting=setting, kind="keywords")


def _substitution(plan: UtilityPlan, kinds: Sequence[str]) -> Iterator[Job]:  # noqa: ARG001 - the same
    """Figures 7 and 8: every k, and strengths at one item and at a few."""
    for setting in (
        *plan.anonymous(),
        *plan.grid((*plan.epsilons, plan.usual_epsilon), (FIRST, plan.cache_items)),
    ):
        yield Job(experiment="substitution", setting=setting, kind="pairs")


def _mechanisms(plan: UtilityPlan, kinds: Sequence[str]) -> Iterator[Job]:
    """Every mechanism at the same numbers, as its promise is and for one person replaced."""
    for kind in kinds:
        yield Job(experiment="mechanisms", setting=Setting(mechanism=ORIGINAL), kind=kind)
        for name in _compared(plan):
            for epsilon in plan.equal_epsilons:
                for halved in (False,) if name in REPLACING else (False, True):
                    for setting in plan.equal(name, epsilon, plan.equal_items_per_person, halved=halved):
                        guarantee_of(setting, FEWEST)  # what is impossible is refused before anything is done
                        yield Job(experiment="mechanisms", setting=setting, kind=kind)


def _compared(plan: UtilityPlan) -> Sequence[str]:
    if unknown := [name for name in plan.mechanisms if name not in COMPARED]:
        raise ParameterError(
            f"there is no mechanism {unknown[0]!r} to compare", hint=f"there are {', '.join(COMPARED)}"
        )
    return plan.mechanisms or tuple(COMPARED)


def _length(job: Job) -> tuple[int, str]:
    """Roughly how long a job takes: what takes long should not begin last."""
    slow = {**dict.fromkeys(DRAWING, 3), "k-query-anonymity": 2, ORIGINAL: 0, PAPER: 1}
    large = {"": 3, "keywords": 4, "queries": 3, "clicks": 2, "pairs": 1}
    return slow.get(job.setting.mechanism, 1) * large[job.kind], job.name
