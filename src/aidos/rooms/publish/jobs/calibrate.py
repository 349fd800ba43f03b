"""The jobs that compute: noise and thresholds from a promise and back, and what pure differential privacy cannot do.

Nothing is read and nothing is spent: all numbers follow from the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge

from aidos.account.impossibility import Contributing, Impossibility
from aidos.core.limits import CROWD, ITEMS
from aidos.errors import ParameterError
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk

if TYPE_CHECKING:
    from aidos.report.page import Block

__all__ = ["Calibrate", "Calibrated", "ExplainImpossibility", "ExplainedImpossibility"]

Mechanism = Literal[
    "steered-counts",
    "steered-rounds",
    "zealous",
    "count-gaussian",
    "laplace-threshold",
    "weighted-gaussian",
    "truncated-geometric",
]
Promise = Literal["probabilistic", "indistinguishable"]
Numbers = Mapping[str, float | int | str]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Calibrated(Finding):
    """A promise, and the noise and thresholds that go with it."""

    about: str = "nobody"
    value: Numbers

    def facts(self) -> Numbers:
        """All of them."""
        return self.value

    def blocks(self) -> Sequence[Block]:
        """For people with six digits."""
        from aidos.report.page import Facts

        words = {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in self.value.items()}
        return (Facts(tuple((name.replace("_", " "), value) for name, value in words.items())),)


@dataclass(frozen=True, slots=True)
class Calibrate(Contributing):
    """Tell how much noise and which thresholds a promise needs, or what promise noise and thresholds keep.

    Nothing is read and nothing is spent: all numbers follow from the
    parameters. Thresholds are those of discrete noise; for zealous, tau_prime
    is the paper's real number and tau_prime_discrete what a release uses.

    For example:
        aidos calibrate steered-counts --epsilon 1 --delta 1e-6
        aidos calibrate zealous --epsilon 1 --delta 0.001 --people 500000 --items-per-person 2
        aidos calibrate zealous --promise indistinguishable --epsilon 1 --delta 1e-6
        aidos calibrate zealous --from-noise 5 --first-threshold 1 --threshold 100 --people 500000 --items-per-person 5
        aidos calibrate count-gaussian --epsilon 1 --delta 1e-6 --items-per-person 10
        aidos calibrate count-gaussian --from-noise 13.36 --threshold 70 --delta 1e-6
    """

    mechanism: Mechanism
    """Whose noise and thresholds."""
    _: KW_ONLY
    epsilon: float | None = None
    """Privacy loss of one person, at most."""
    delta: float | None = None
    """Probability with which the promise may fail."""
    items_per_person: Annotated[int, Ge(1), ITEMS] = 10
    people: Annotated[int | None, Ge(1), CROWD] = None
    """People in the log (U), where the promise of zealous is probabilistic."""
    first_threshold: Annotated[int | None, Ge(1), CROWD] = None
    """tau of zealous; the best one if unset."""
    promise: Promise = "probabilistic"
    """Kind of promise of zealous."""
    from_noise: float | None = None
    """Go back: the scale (lambda, sigma) of noise that is given."""
    threshold: float | None = None
    """Going back: items are published above it (tau' of zealous)."""

    def run(self, desk: Desk) -> Calibrated:  # noqa: ARG002 (nothing to work with)
        """Forth, or back where noise is given."""
        forth, back = _MECHANISMS[self.mechanism]
        found = (forth if self.from_noise is None and self.threshold is None else back)(self)
        return Calibrated(value={"mechanism": self.mechanism, "items_per_person": self.items_per_person, **found})

    @property
    def wish(self) -> tuple[float, float]:
        """Epsilon and delta."""
        return self.need("epsilon"), self.need("delta")

    @property
    def given(self) -> tuple[float, float]:
        """Noise and threshold."""
        return self.need("from_noise"), self.need("threshold")

    def need(self, name: str) -> float:
        """A parameter that the question cannot do without."""
        value: float | None = getattr(self, name)
        if value is None:
            raise ParameterError(f"--{name.replace('_', '-')} is missing", hint="see: aidos calibrate --help")
        return value


def _zealous(asked: Calibrate) -> Numbers:
    from aidos.account.zealous import indistinguishable, probabilistic

    epsilon, delta = asked.wish
    if asked.promise == "probabilistic":
        found = probabilistic(epsilon, delta, asked.items_per_person, int(asked.need("people")), asked.first_threshold)
    elif asked.first_threshold not in {None, 1}:
        raise ParameterError("the first threshold of an indistinguishable release is 1", hint="leave it out")
    else:
        found = indistinguishable(epsilon, delta, asked.items_per_person)
    return {
        **_promised(asked, epsilon, delta),
        "lambda": found.scale,
        "tau": found.first_threshold,
        "tau_prime": found.continuous_second_threshold,
        "tau_prime_discrete": found.second_threshold,
    }


def _zealous_back(asked: Calibrate) -> Numbers:
    from aidos.account import zealous

    scale, second = asked.given
    epsilon = zealous.zealous_epsilon(scale, asked.items_per_person)
    if asked.promise == "probabilistic":
        first = asked.first_threshold or 1
        continuous = zealous.probabilistic_delta(
            scale, first, second, asked.items_per_person, int(asked.need("people"))
        )
        discrete = zealous.discrete_probabilistic_delta(
            scale, first, int(second), asked.items_per_person, int(asked.need("people"))
        )
        return {**_promised(asked, epsilon, discrete), "delta_continuous": continuous}
    discrete = zealous.discrete_indistinguishable_delta(scale, int(second), asked.items_per_person)
    return {
        **_promised(asked, epsilon, discrete),
        "delta_continuous": zealous.indistinguishable_delta(scale, second, asked.items_per_person),
        "delta_as_published": zealous.published_delta(scale, second, asked.items_per_person),
    }


def _promised(asked: Calibrate, epsilon: float, delta: float) -> dict[str, float | int | str]:
    from aidos.core.guarantee import ApproxDP, Neighbours, ProbabilisticDP, statement

    kind = ProbabilisticDP if asked.promise == "probabilistic" else ApproxDP
    words = statement(kind(epsilon=epsilon, delta=delta, neighbours=Neighbours.REPLACE_ONE))
    return {"promise": asked.promise, "epsilon": epsilon, "delta": delta, "statement": words}


def _added(epsilon: float, delta: float) -> dict[str, float | int | str]:
    from aidos.core.guarantee import ApproxDP, statement

    return {"epsilon": epsilon, "delta": delta, "statement": statement(ApproxDP(epsilon=epsilon, delta=delta))}


def _count_gaussian(asked: Calibrate) -> Numbers:
    from aidos.account.jointdelta import count_gaussian

    found = count_gaussian(*asked.wish, asked.items_per_person)
    return {**_added(*asked.wish), "sigma": found.scale, "threshold": found.threshold}


def _count_gaussian_back(asked: Calibrate) -> Numbers:
    from aidos.account.jointdelta import count_gaussian_epsilon

    delta = asked.need("delta")
    sigma, threshold = asked.given
    return _added(count_gaussian_epsilon(sigma, int(threshold), delta, asked.items_per_person), delta)


def _laplace(asked: Calibrate) -> Numbers:
    from aidos.account.thresholds import laplace

    found = laplace(*asked.wish, asked.items_per_person)
    return {**_added(*asked.wish), "lambda": found.scale, "threshold": found.threshold}


def _laplace_back(asked: Calibrate) -> Numbers:
    from aidos.account.thresholds import laplace_promise

    scale, threshold = asked.given
    return _added(*laplace_promise(scale, int(threshold), asked.items_per_person))


def _weighted(asked: Calibrate) -> Numbers:
    from aidos.account.jointdelta import weighted_gaussian

    found = weighted_gaussian(*asked.wish, asked.items_per_person)
    return {**_added(*asked.wish), "sigma": found.scale, "threshold": found.threshold, "step": found.unit}


def _weighted_back(asked: Calibrate) -> Numbers:
    from aidos.account.jointdelta import weighted_gaussian_epsilon

    delta = asked.need("delta")
    return _added(weighted_gaussian_epsilon(*asked.given, delta, asked.items_per_person), delta)


def _geometric(asked: Calibrate) -> Numbers:
    import numpy as np

    from aidos.account.thresholds import geometric

    found = geometric(*asked.wish, asked.items_per_person)
    chances = found.probability(np.arange(len(found.words) + 1))
    return {
        **_added(*asked.wish),
        "people_for_one_half": int(np.searchsorted(chances, 0.5)),
        "people_for_certainty": len(found.words),
    }


def _steered(name: str) -> Callable[[Calibrate], Numbers]:
    def forth(asked: Calibrate) -> Numbers:
        from aidos.core.mechanism import PublicFacts
        from aidos.rooms.publish.catalogue import find_mechanism

        epsilon, delta = asked.wish
        made = find_mechanism(name)(epsilon=epsilon, delta=delta, items_per_person=asked.items_per_person)
        return {**_added(epsilon, delta), "items_seen": made.items_seen, **made.calibration(PublicFacts())}

    return forth


def _no_way_back(_: Calibrate) -> Numbers:
    raise ParameterError("this mechanism has no single noise to go back from", hint="leave out --from-noise")


_MECHANISMS: Mapping[str, tuple[Callable[[Calibrate], Numbers], Callable[[Calibrate], Numbers]]] = {
    "steered-counts": (_steered("steered-counts"), _no_way_back),
    "steered-rounds": (_steered("steered-rounds"), _no_way_back),
    "zealous": (_zealous, _zealous_back),
    "count-gaussian": (_count_gaussian, _count_gaussian_back),
    "laplace-threshold": (_laplace, _laplace_back),
    "weighted-gaussian": (_weighted, _weighted_back),
    "truncated-geometric": (_geometric, _no_way_back),
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExplainedImpossibility(Finding):
    """Whether publishing nothing is better than any such algorithm, with the numbers that say so."""

    about: str = "nobody"
    value: Impossibility

    def facts(self) -> Mapping[str, object]:
        """The verdict, and the bounds as they are proven and as they are printed."""
        return {
            "nothing_is_better": self.value.nothing_is_better(),
            "errors_of_nothing_at_most": self.value.most_very_frequent_items,
            "proven": asdict(self.value.proven),
            "printed": asdict(self.value.printed),
        }

    def blocks(self) -> Sequence[Block]:
        """Both bounds side by side, and what follows."""
        from aidos.report.page import DataTable, Facts

        ours, theirs = self.value.proven, self.value.printed
        rows = (
            ("chance that any given item is published, at least", ours.chance_of_any_item, theirs.chance_of_any_item),
            ("very infrequent items published, expected, at least", ours.wrong_items, theirs.wrong_items),
            ("size of the domain that suffices", ours.domain_that_suffices, theirs.domain_that_suffices),
        )
        verdict = (
            "publishing nothing has fewer errors than any such algorithm"
            if self.value.nothing_is_better()
            else "the bound does not rule it out: a smaller domain, a larger epsilon or a lower threshold helps"
        )
        errors = f"{self.value.most_very_frequent_items:.3g}"
        return (
            DataTable(
                caption="What every epsilon-DP algorithm does",
                columns=("every epsilon-DP algorithm", "counts of people", "as printed in the paper"),
                rows=tuple((words, f"{left:.3g}", f"{right:.3g}") for words, left, right in rows),
                titled=False,
            ),
            Facts((("errors of publishing nothing, at most", errors), ("so", verdict))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainImpossibility:
    """Tell whether pure differential privacy can publish frequent items from so large a domain.

    Every epsilon-DP algorithm that shows very frequent items with the given
    accuracy must also show items that hardly anybody has. From some size of
    the domain on it makes more errors than publishing nothing at all.

    For example:
        aidos explain impossibility --people 1000000 --items-per-person 10 --epsilon 1 --threshold 50 --domain 5.3e35
    """

    setting: Impossibility

    def run(self, desk: Desk) -> ExplainedImpossibility:  # noqa: ARG002
        """The bounds of this setting."""
        return ExplainedImpossibility(value=self.setting)
