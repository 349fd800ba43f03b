"""Gaussian parts as the tests of the accountants want them: of discrete noise, and several at one delta."""

from math import inf

from aidos.account.composition import UP, GaussianPart, joint_epsilon
from aidos.account.gaussian import smoothed
from aidos.core.guarantee import ApproxDP


def compose_gaussian(parts, delta):
    """The smallest epsilon of all parts together at this delta."""
    epsilon = joint_epsilon(delta, parts)
    assert epsilon < inf
    return ApproxDP(epsilon=epsilon, delta=delta)


def discrete_gaussian_part(*, sigma, sensitivity, delta=0.0):
    """The part that discrete Gaussian noise on integer vectors is, with l2-sensitivity in the units of sigma."""
    return GaussianPart(mu=sensitivity / smoothed(sigma) * UP, delta=delta)
