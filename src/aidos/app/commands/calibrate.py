"""`aidos calibrate`: from (epsilon, delta) to noise and thresholds, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from aidos.app.console import Common, show, show_json
from aidos.errors import ParameterError

__all__ = ["calibrate"]

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
Facts = Mapping[str, float | int | str]


def calibrate(
    mechanism: Mechanism,
    /,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    items_per_person: int = 10,
    people: int | None = None,
    first_threshold: int | None = None,
    promise: Promise = "probabilistic",
    from_noise: float | None = None,
    threshold: float | None = None,
    common: Common | None = None,
) -> int:
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

    Parameters
    ----------
    mechanism
        Whose noise and thresholds.
    epsilon
        Privacy loss of one person, at most.
    delta
        Probability with which the promise may fail.
    items_per_person
        Most items that one person contributes (m).
    people
        People in the log (U), where the promise of zealous is probabilistic.
    first_threshold
        tau of zealous; the best one unless given.
    promise
        Kind of promise of zealous.
    from_noise
        Go back: the scale (lambda, sigma) of noise that is given.
    threshold
        Going back: items are published above it (tau' of zealous).
    """
    common = common or Common()
    asked = _Asked(epsilon, delta, items_per_person, people, first_threshold, promise, from_noise, threshold)
    forth, back = _MECHANISMS[mechanism]
    facts = {
        "mechanism": mechanism,
        "items_per_person": items_per_person,
        **(back if asked.goes_back else forth)(asked),
    }
    if common.json:
        show_json(facts)
    else:
        from aidos.report.terminal import facts_table

        words = {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in facts.items()}
        show(facts_table([(name.replace("_", " "), value) for name, value in words.items()]))
    return 0


@dataclass(frozen=True, slots=True)
class _Asked:
    epsilon: float | None
    delta: float | None
    items: int
    people: int | None
    first_threshold: int | None
    promise: Promise
    noise: float | None
    threshold: float | None

    @property
    def goes_back(self) -> bool:
        return self.noise is not None or self.threshold is not None

    def need(self, option: str, value: float | None) -> float:
        if value is None:
            raise ParameterError(f"{option} is missing", hint="see: aidos calibrate --help")
        return value

    @property
    def wish(self) -> tuple[float, float]:
        return self.need("--epsilon", self.epsilon), self.need("--delta", self.delta)

    @property
    def given(self) -> tuple[float, float]:
        return self.need("--from-noise", self.noise), self.need("--threshold", self.threshold)

    @property
    def crowd(self) -> int:
        return int(self.need("--people", self.people))


def _zealous(asked: _Asked) -> Facts:
    from aidos.account.zealous import indistinguishable, probabilistic

    epsilon, delta = asked.wish
    if asked.promise == "probabilistic":
        found = probabilistic(epsilon, delta, asked.items, asked.crowd, asked.first_threshold)
    elif asked.first_threshold not in {None, 1}:
        raise ParameterError("the first threshold of an indistinguishable release is 1", hint="leave it out")
    else:
        found = indistinguishable(epsilon, delta, asked.items)
    return {
        **_promised(asked, epsilon, delta),
        "lambda": found.scale,
        "tau": found.first_threshold,
        "tau_prime": found.continuous_second_threshold,
        "tau_prime_discrete": found.second_threshold,
    }


def _zealous_back(asked: _Asked) -> Facts:
    from aidos.account import zealous

    scale, second = asked.given
    epsilon = zealous.zealous_epsilon(scale, asked.items)
    if asked.promise == "probabilistic":
        first = asked.first_threshold or 1
        continuous = zealous.probabilistic_delta(scale, first, second, asked.items, asked.crowd)
        discrete = zealous.discrete_probabilistic_delta(scale, first, int(second), asked.items, asked.crowd)
        return {**_promised(asked, epsilon, discrete), "delta_continuous": continuous}
    discrete = zealous.discrete_indistinguishable_delta(scale, int(second), asked.items)
    return {
        **_promised(asked, epsilon, discrete),
        "delta_continuous": zealous.indistinguishable_delta(scale, second, asked.items),
        "delta_as_published": zealous.published_delta(scale, second, asked.items),
    }


def _promised(asked: _Asked, epsilon: float, delta: float) -> dict[str, float | int | str]:
    from aidos.core.guarantee import ApproxDP, Neighbours, ProbabilisticDP, statement

    kind = ProbabilisticDP if asked.promise == "probabilistic" else ApproxDP
    words = statement(kind(epsilon=epsilon, delta=delta, neighbours=Neighbours.REPLACE_ONE))
    return {"promise": asked.promise, "epsilon": epsilon, "delta": delta, "statement": words}


def _added(epsilon: float, delta: float) -> dict[str, float | int | str]:
    from aidos.core.guarantee import ApproxDP, statement

    return {"epsilon": epsilon, "delta": delta, "statement": statement(ApproxDP(epsilon=epsilon, delta=delta))}


def _count_gaussian(asked: _Asked) -> Facts:
    from aidos.account.jointdelta import count_gaussian

    found = count_gaussian(*asked.wish, asked.items)
    return {**_added(*asked.wish), "sigma": found.scale, "threshold": found.threshold}


def _count_gaussian_back(asked: _Asked) -> Facts:
    from aidos.account.jointdelta import count_gaussian_epsilon

    delta = asked.need("--delta", asked.delta)
    sigma, threshold = asked.given
    return _added(count_gaussian_epsilon(sigma, int(threshold), delta, asked.items), delta)


def _laplace(asked: _Asked) -> Facts:
    from aidos.account.thresholds import laplace

    found = laplace(*asked.wish, asked.items)
    return {**_added(*asked.wish), "lambda": found.scale, "threshold": found.threshold}


def _laplace_back(asked: _Asked) -> Facts:
    from aidos.account.thresholds import laplace_promise

    scale, threshold = asked.given
    return _added(*laplace_promise(scale, int(threshold), asked.items))


def _weighted(asked: _Asked) -> Facts:
    from aidos.account.jointdelta import weighted_gaussian

    found = weighted_gaussian(*asked.wish, asked.items)
    return {**_added(*asked.wish), "sigma": found.scale, "threshold": found.threshold, "step": found.unit}


def _weighted_back(asked: _Asked) -> Facts:
    from aidos.account.jointdelta import weighted_gaussian_epsilon

    delta = asked.need("--delta", asked.delta)
    return _added(weighted_gaussian_epsilon(*asked.given, delta, asked.items), delta)


def _geometric(asked: _Asked) -> Facts:
    import numpy as np

    from aidos.account.thresholds import geometric

    found = geometric(*asked.wish, asked.items)
    chances = found.probability(np.arange(len(found.words) + 1))
    return {
        **_added(*asked.wish),
        "people_for_one_half": int(np.searchsorted(chances, 0.5)),
        "people_for_certainty": len(found.words),
    }


def _steered(name: str) -> Callable[[_Asked], Facts]:
    def forth(asked: _Asked) -> Facts:
        from aidos.app.catalogue import find_mechanism
        from aidos.core.mechanism import PublicFacts

        epsilon, delta = asked.wish
        made = find_mechanism(name)(epsilon=epsilon, delta=delta, items_per_person=asked.items)
        return {**_added(epsilon, delta), "items_seen": made.items_seen, **made.calibration(PublicFacts())}

    return forth


def _no_way_back(_: _Asked) -> Facts:
    raise ParameterError("this mechanism has no single noise to go back from", hint="leave out --from-noise")


_MECHANISMS: Mapping[str, tuple[Callable[[_Asked], Facts], Callable[[_Asked], Facts]]] = {
    "steered-counts": (_steered("steered-counts"), _no_way_back),
    "steered-rounds": (_steered("steered-rounds"), _no_way_back),
    "zealous": (_zealous, _zealous_back),
    "count-gaussian": (_count_gaussian, _count_gaussian_back),
    "laplace-threshold": (_laplace, _laplace_back),
    "weighted-gaussian": (_weighted, _weighted_back),
    "truncated-geometric": (_geometric, _no_way_back),
}
