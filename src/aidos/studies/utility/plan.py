"""What the utility experiments try: which releases of a log, at which strength, measured by what.

statistics     how far published counts are from true ones (Götz et al. 2012, tables 3 and 4, figures 2 to 5)
caching        a cache of posting lists filled by a release (figure 6)
substitution   suggestions learned from a release (figures 7 and 8)
retrieval      ranking by clicks of a release (Zhang et al. 2016, tables 4 and 5, figure 1)
mechanisms     every mechanism at equal guarantees

A setting is one release that is simulated: a mechanism with its strength. Simulations have seeds, so that they can be
repeated, and what is released with a known seed promises nothing: nothing made here may leave the building.

Noise, thresholds and limits of the pool release, scaled from the paper's log to any other (Zhang et al. 2016). The
paper tries b and K from 10 to 500 on the AOL log of 2006: 657,426 people who asked 21,011,340 times. Counts of a
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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Literal, TypeAlias, get_args

from annotated_types import Ge, Gt, Le, Lt

from aidos.core.checks import check_parameters
from aidos.core.limits import CROWD, ROWS
from aidos.errors import ParameterError
from aidos.jobs.job import Commas

__all__ = [
    "ANONYMOUS",
    "AOL_ASKINGS",
    "AOL_PEOPLE",
    "EXPERIMENTS",
    "KINDS",
    "MOST_FREQUENT",
    "ORIGINAL",
    "PAPER",
    "Experiment",
    "Job",
    "OfAnonymity",
    "PoolGrid",
    "Setting",
    "Tried",
    "UtilityPlan",
    "fit_grid",
]

Experiment: TypeAlias = Literal["statistics", "caching", "substitution", "retrieval", "mechanisms"]
"""One of the five."""
EXPERIMENTS: tuple[Experiment, ...] = get_args(Experiment)
ORIGINAL, ANONYMOUS = "original", "k-query-anonymity"
"""The log itself, and the comparator of the paper."""
GIGABYTE = 10**9
KINDS = ("keywords", "queries", "clicks", "pairs")
"""Kinds of items of a log (`aidos.rooms.publish.items`)."""
MOST_FREQUENT = 100_000
"""Queries that the paper makes suggestions for: the most frequent of the original log."""
SEVERAL = ("epsilons", "items_per_person", "ks", "tops", "equal_epsilons", "kinds")
"""Lists that need values."""
OPEN = ("noise_scales", "thresholds", "mechanisms")
"""Lists that may be left to the experiment."""
PAPER = "zealous-probabilistic"
"""The paper's mechanism with the promise that its figures are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One release that is simulated."""

    mechanism: str
    """By name; `ORIGINAL` for the log itself."""
    epsilon: float | None = None
    delta: float | None = None
    items_per_person: int | None = None
    """m in the paper."""
    k: int | None = None
    """Of k-anonymity."""
    noise_scale: float | None = None
    """b of the pool release."""
    threshold: int | None = None
    """K of the pool release."""
    halved: bool = False
    """Whether epsilon and delta are brought from one person replaced to one added or removed."""
    repeat: int = 0
    """Which of the repetitions, each with noise of its own."""

    @property
    def name(self) -> str:
        """A name that no other setting has."""
        parts = {
            "e": self.epsilon,
            "d": self.delta,
            "m": self.items_per_person,
            "k": self.k,
            "b": self.noise_scale,
            "t": self.threshold,
        }
        told = "".join(f"-{letter}{value:g}" for letter, value in parts.items() if value is not None)
        return f"{self.mechanism}{told}{'-halved' if self.halved else ''}-r{self.repeat}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One setting in one experiment: what a process works on at a time."""

    experiment: Experiment
    setting: Setting
    kind: str = ""
    """The kind of items, where the work is about one."""

    @property
    def name(self) -> str:
        """What its results are kept under."""
        return "-".join(part for part in (self.experiment, self.kind, self.setting.name) if part)


@dataclass(frozen=True, kw_only=True)
class OfAnonymity:
    """A comparison with k-anonymity."""

    ks: Annotated[tuple[Annotated[int, Ge(2), CROWD], ...], Commas()] = (5, 10, 20, 50, 100)
    """People that a query needs, for k-anonymity."""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """An experiment on queries of people who were held out."""

    tried_queries: Annotated[int, Ge(2), ROWS] = 1_000
    """Queries that are tried in each fold, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityPlan(OfAnonymity, Tried):
    """What is tried."""

    epsilons: tuple[Annotated[float, Gt(0)], ...] = (1.0, 2.0, 5.0, 10.0)
    """Strengths of the paper's mechanism."""
    items_per_person: tuple[Annotated[int, Ge(1)], ...] = (1, 4, 8, 20, 40, 80, 160)
    """Limits on the items of each person (m) that statistics are taken at."""
    usual_epsilon: Annotated[float, Gt(0)] = 5.0
    """The strength at which the limit on items is varied; the paper's figure 4 has it too."""
    usual_k: Annotated[int, Ge(2)] = 10
    """The k that goes with it."""
    delta: Annotated[float, Gt(0), Lt(1)] = 1e-3
    """Of the paper's experiments."""
    cache_items: Annotated[int, Ge(1)] = 6
    """Limit on the keywords of each person, where the cache is filled at several strengths."""
    cache_bytes: Annotated[int, Ge(1)] = GIGABYTE
    """Memory for posting lists; less where the whole index would fit into it."""
    suggested_queries: Annotated[int, Ge(1)] = MOST_FREQUENT
    """The most frequent queries that suggestions are made for."""
    tops: tuple[Annotated[int, Ge(1)], ...] = (10, 50, 100, 500, 1_000, 5_000, 10_000)
    """The most frequent items that coverage and precision are about."""
    equal_epsilons: tuple[Annotated[float, Gt(0)], ...] = (1.0,)
    """Strengths at which mechanisms are compared."""
    equal_delta: Annotated[float, Gt(0), Lt(1)] = 1e-6
    """Delta at which mechanisms are compared."""
    equal_items_per_person: Annotated[int, Ge(1)] = 10
    """Items of each person that count, where mechanisms are compared."""
    noise_scales: tuple[Annotated[float, Gt(0), Le(2**15)], ...] = ()
    """Noise of the pool release (b); unless given the paper's, scaled to the log (see ``poolgrid``)."""
    thresholds: tuple[Annotated[int, Ge(1)], ...] = ()
    """Counts that queries need in the pool release (K); scaled likewise."""
    usual_noise: Annotated[float, Gt(0), Le(2**15)] | None = None
    """b of the paper's tables 4 and 5; scaled likewise."""
    usual_threshold: Annotated[int, Ge(1)] | None = None
    """K there; scaled likewise."""
    pool_limit: Annotated[int, Ge(2), Le(10_000)] | None = None
    """Queries, and clicks, of each person that count in the pool release (q_f); scaled by the askings of a person."""
    pool_size: Annotated[int, Ge(1)] = 2_000
    """Phrases of the collection that make the public pool."""
    folds: Annotated[int, Ge(2)] = 5
    """Parts of the people; each is tried on what is learned from the others."""
    tried_folds: Annotated[int, Ge(1)] | None = None
    """How many of the parts are tried; all unless given."""
    mechanisms: tuple[str, ...] = ()
    """Mechanisms that are compared, by name; all unless given."""
    kinds: tuple[str, ...] = KINDS
    """Kinds of items that statistics and comparisons are about."""
    repeats: Annotated[int, Ge(1)] = 1
    """How often each release is simulated."""
    seed: Annotated[int, Ge(0)] = 7
    """Of all noise."""

    def __post_init__(self) -> None:
        if unknown := [kind for kind in self.kinds if kind not in KINDS]:
            raise ParameterError(f"there are no {unknown[0]!r} to count", hint=f"kinds are {', '.join(KINDS)}")
        check_parameters(self)
        for name in (*SEVERAL, *OPEN):
            values = getattr(self, name)
            if (not values and name in SEVERAL) or len(set(values)) < len(values):
                raise ParameterError(f"UtilityPlan: {name} needs values, each once")

    def paper(self, epsilon: float, items: int) -> Iterator[Setting]:
        """The paper's mechanism, as often as asked."""
        for repeat in range(self.repeats):
            yield Setting(mechanism=PAPER, epsilon=epsilon, delta=self.delta, items_per_person=items, repeat=repeat)

    def equal(self, name: str, epsilon: float, items: int, *, halved: bool = False) -> Iterator[Setting]:
        """Any mechanism at the delta that mechanisms are compared at, as often as asked."""
        for repeat in range(self.repeats):
            yield Setting(
                mechanism=name,
                epsilon=epsilon,
                delta=self.equal_delta,
                items_per_person=items,
                halved=halved,
                repeat=repeat,
            )

    def grid(self, epsilons: tuple[float, ...], items: tuple[int, ...]) -> Iterator[Setting]:
        """The paper's mechanism at every pair of a strength and a limit."""
        for epsilon, limit in product(epsilons, items):
            yield from self.paper(epsilon, limit)

    def anonymous(self) -> Iterator[Setting]:
        """The comparator at every k, the usual one among them."""
        for k in dict.fromkeys((*self.ks, self.usual_k)):
            yield Setting(mechanism=ANONYMOUS, k=k)


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
