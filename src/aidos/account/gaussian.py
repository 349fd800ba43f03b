"""What Gaussian noise costs: the exact (epsilon, delta) curve, and proofs that discrete noise keeps it.

Continuous. Noise of standard deviation sigma on a vector whose l2-sensitivity is D gives exactly (Balle and Wang 2018)
delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), mu = D / sigma.

Discrete, on counts that all change by one (`count_noise_delta`). With k counts shifted, the log-likelihood ratio
depends on the noise only through S, the sum of k discrete Gaussians, and is (S + k/2) / sigma^2. Completing the square
and Poisson's summation formula show that the convolution of N_Z(0, a^2) and N_Z(0, b^2) is N_Z(0, a^2 + b^2) times a
factor within (1 +- 2h) / (1 -+ 2h), where h = sum over j >= 1 of exp(-2 pi^2 s^2 j^2) and 1/s^2 = 1/a^2 + 1/b^2. By
induction S is N_Z(0, k sigma^2) up to a factor e^(+-t) with t the sum of ln((1 + 2h)/(1 - 2h)) over the k - 1 steps,
each with s^2 >= sigma^2 / 2. Hence delta_S(epsilon) <= e^t delta_W(epsilon - 2t) with W from N_Z(0, k sigma^2), and
delta_W is the sum of P[W = w] (1 - e^(epsilon - (w + k/2)/sigma^2)) over the w that make it positive: no cancellation.
For k = 1 (t = 0) it is exact. Fewer changed counts cost less: dropping coordinates is post-processing.

Discrete, on any integer vector (`grid_noise_delta`). Draw Y from the continuous N(x, sigma^2 - r^2) and then Z from the
discrete Gaussian with centre Y and width r: the same formula shows that Z is N_Z(x, sigma^2) up to a factor (1 +- 2h) /
(1 -+ 2h) with s = r. So in each changed coordinate discrete noise of sigma is, up to e^(+-t), post-processing of
continuous noise of sqrt(sigma^2 - r^2). With r = 1.5, t is below 3e-19.

Floats are rounded up by a stated allowance, never down.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, erfc, exp, floor, inf, isfinite, log, log1p, pi, sqrt

import numpy as np

from aidos.errors import ParameterError

__all__ = [
    "bracket",
    "count_noise_delta",
    "count_noise_sigma",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_sigma",
    "grid_noise_beyond",
    "grid_noise_delta",
    "normal_tail",
    "normal_tail_inverse",
    "smallest",
    "smoothed",
]

UNIT = 2.0**-52
ALLOWANCE = 1 + 1e-11
"""For sums of exponentials: each term is right to (exponent up to 800) x (a few units in the last place)."""
SMOOTHING = 1.5
"""r of the docstring."""
WIDEST_SUM = 20_000
"""Above this standard deviation of the sum the general bound is nearly as good, and cheaper."""
SMALLEST_DELTA = 1e-300
"""Added where terms may have vanished below the range of floats."""


def normal_tail(x: float) -> float:
    """P[N(0, 1) > x], with a small relative error however far the tail."""
    return erfc(x / sqrt(2)) / 2


def normal_tail_inverse(probability: float) -> float:
    """The smallest x known to have P[N(0, 1) > x] <= probability."""
    if not 0 < probability < 1:
        raise ParameterError(f"a probability between 0 and 1 was expected, got {probability}")
    return smallest(lambda x: normal_tail(x) <= probability, low=-40.0, high=40.0)


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float) -> float:
    """Delta at this epsilon of continuous Gaussian noise, rounded up."""
    _check(epsilon=epsilon, sigma=sigma, sensitivity=sensitivity, zero_epsilon=True)
    mu = sensitivity / sigma
    first = normal_tail(epsilon / mu - mu / 2)
    far = normal_tail(epsilon / mu + mu / 2)
    second = exp(epsilon + log(far)) if far > 0 else 0.0
    # An error of a unit in an argument x changes a tail by a relative x^2; the arguments have a few units each.
    rounding = 8 * UNIT * (1 + (epsilon / mu + mu / 2) ** 2) * (first + second)
    return min(1.0, max(first - second, 0.0) + rounding)


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """The smallest standard deviation of continuous noise that gives (epsilon, delta)."""
    _check(epsilon=epsilon, delta=delta, sensitivity=sensitivity)

    def fits(sigma: float) -> bool:
        return gaussian_delta(epsilon, sigma, sensitivity) <= delta

    return smallest(fits, *bracket(fits, start=sensitivity))


def gaussian_epsilon(delta: float, sigma: float, sensitivity: float) -> float:
    """The smallest epsilon that continuous noise of this sigma gives at this delta."""
    _check(delta=delta, sigma=sigma, sensitivity=sensitivity)
    if gaussian_delta(0.0, sigma, sensitivity) <= delta:
        return 0.0

    def fits(epsilon: float) -> bool:
        return gaussian_delta(epsilon, sigma, sensitivity) <= delta

    return smallest(fits, *bracket(fits, start=1.0))


def count_noise_delta(epsilon: float, sigma: float, items: int) -> float:
    """Delta of discrete Gaussian noise where one person changes up to ``items`` counts by one, all in one direction."""
    _check(epsilon=epsilon, sigma=sigma, sensitivity=items, zero_epsilon=True)
    if sqrt(items) * sigma > WIDEST_SUM:
        return grid_noise_delta(epsilon, sigma, sqrt(items), items)
    # s^2 is smallest at the first step, where it is sigma^2 / 2; every later step is charged as much.
    closeness = (items - 1) * _ripple(sigma / sqrt(2)) if items > 1 else 0.0
    if not isfinite(closeness) or closeness > 1:
        return 1.0
    return min(1.0, exp(closeness) * _lattice_delta(epsilon - 2 * closeness, sigma, items) * ALLOWANCE)


def count_noise_sigma(epsilon: float, delta: float, items: int) -> float:
    """A sigma, the smallest up to a part in a million, for which `count_noise_delta` is proven to be at most delta."""
    _check(epsilon=epsilon, delta=delta, sensitivity=items)

    def fits(sigma: float) -> bool:
        return count_noise_delta(epsilon, sigma, items) <= delta

    near = gaussian_sigma(epsilon, delta, sqrt(items))
    return smallest(fits, *bracket(fits, start=near, factor=1.0005), precision=1e-6)


def grid_noise_delta(epsilon: float, sigma: float, sensitivity: float, coordinates: int) -> float:
    """Delta of discrete Gaussian noise on integer vectors of which one person changes at most so many coordinates.

    ``sensitivity`` is the l2 norm of the change, in the same integer units as sigma.
    """
    _check(epsilon=epsilon, sigma=sigma, sensitivity=sensitivity, zero_epsilon=True)
    if sigma <= SMOOTHING:
        return 1.0
    closeness = coordinates * _ripple(SMOOTHING)
    left = epsilon - 2 * closeness
    if left < 0:
        return 1.0
    return min(1.0, exp(closeness) * gaussian_delta(left, smoothed(sigma), sensitivity) * ALLOWANCE)


def grid_noise_beyond(sigma: float, probability: float) -> int:
    """An integer t with P[X > t] <= probability for discrete Gaussian X; the smallest, or nearly, where sigma is large.

    Beyond sigma the density is convex, so the weight of an integer k is at most its integral from k - 1/2 to k + 1/2,
    and the weights of all integers sum up to at least sqrt(2 pi) sigma (Poisson's formula again). So
    P[X > t] <= P[N(0, 1) > (t + 1/2) / sigma] for t + 1/2 >= sigma.
    """
    wanted = sigma * normal_tail_inverse(probability / ALLOWANCE) * ALLOWANCE - 0.5
    return max(ceil(wanted), ceil(sigma))


def smoothed(sigma: float) -> float:
    """The continuous noise that discrete noise of sigma is post-processing of, up to a factor within 3e-19 of 1."""
    return sqrt(max(sigma**2 - SMOOTHING**2, 0.0)) * (1 - 4 * UNIT)


def _ripple(width: float) -> float:
    """ln((1 + 2h) / (1 - 2h)) for h = sum of exp(-2 pi^2 width^2 j^2) over j >= 1, rounded up."""
    first = exp(-2 * (pi * width) ** 2)
    if first > 0.3:
        return inf
    h = first / (1 - first) * ALLOWANCE  # a geometric series, since j^2 >= j
    return (log1p(2 * h) - log1p(-2 * h)) * ALLOWANCE


def _lattice_delta(epsilon: float, sigma: float, items: int) -> float:
    """delta_W of the docstring for W from N_Z(0, items sigma^2), up to the allowance."""
    variance = items * sigma**2
    width = sqrt(variance)
    first = floor(epsilon * sigma**2 - items / 2)  # one early, in case the product was rounded
    # Where W is 38 widths beyond 0 and beyond its first value, nothing is left that a float could hold.
    last = max(first, 0) + int(38 * width) + 2
    w = np.arange(first, last, dtype=np.float64)
    gain = -np.expm1(np.minimum(epsilon - (w + items / 2) / sigma**2, 0.0))
    gain += 8 * UNIT * (1 + abs(epsilon))  # its argument has a few units of that size
    return float(np.sum(np.exp(-(w**2) / (2 * variance)) * gain)) / _whole(variance) + SMALLEST_DELTA


def _whole(variance: float) -> float:
    """A lower bound of the sum of exp(-w^2 / (2 variance)) over all integers: Poisson's formula, or the first terms."""
    terms = 1 + 2 * sum(exp(-(w**2) / (2 * variance)) for w in range(1, 13))
    return max(sqrt(2 * pi * variance), terms) / ALLOWANCE


def bracket(fits: Callable[[float], bool], *, start: float, factor: float = 2.0) -> tuple[float, float]:
    """Two numbers, the second of which fits and the first does not (or is next to 0)."""
    low = high = start
    while not fits(high):
        low, high = high, high * factor
        factor = min(factor**2, 2.0)
        if not isfinite(high):
            raise ParameterError("no finite amount of noise gives what was asked for", hint="ask for a larger delta")
    while low == high or (fits(low) and low > 1e-300):
        high, low = (low, low / factor)
    return low, high


def smallest(fits: Callable[[float], bool], low: float, high: float, precision: float = 0.0) -> float:
    """The upper end of an ever smaller interval: it always fits, so that the answer errs on the safe side."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high) or high - low <= precision * high:
            break
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _check(*, zero_epsilon: bool = False, **values: float) -> None:
    for name, value in values.items():
        at_zero = zero_epsilon and name == "epsilon" and value == 0
        if not ((isfinite(value) and value > 0) or at_zero):
            raise ParameterError(f"{name} must be finite and greater than 0, got {value}")
        if name == "delta" and value >= 1:
            raise ParameterError(f"delta must be less than 1, got {value}")
