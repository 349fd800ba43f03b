"""Whether the findings of the thesis hold in an outcome, each with the numbers it is read from.

    topical measures are above both baselines        the plain ones and DT, by micro R-precision
    breadth (D) sets professionals back              a lower percentile, and more afflicted people before them
    recurrence (T) sets curious people back          more afflicted people before them, and fewer of the first R places
    both together (DT) are best                      in their space, and over all measures

A claim that fails by little may do so by chance: `Outcome.comparisons` says how sure a difference is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aidos.studies.risk.outcome import BASELINES, FORMS, SPACES, Outcome

__all__ = ["Claim", "read_claims"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A finding of the thesis, and whether it holds here."""

    finding: str
    space: str
    """The space of the measures; empty where it is about all."""
    holds: bool
    values: Mapping[str, float]
    """The numbers it is read from, by measure."""


def read_claims(outcome: Outcome) -> list[Claim]:
    """The findings that can be read from the measures at hand."""
    found = [claim for space in SPACES if outcome.has(space) for claim in _of_space(outcome, space)]
    combined = [f"{space}-dt" for space in SPACES if outcome.has(f"{space}-dt")]
    values = {measure: outcome.micro(measure) for measure in outcome.measures}
    if combined and len(values) > len(combined):
        best = max(values.values())
        holds = any(values[measure] == best for measure in combined)
        found.append(Claim(finding="the best measure of all is a DT", space="", holds=holds, values=values))
    return found


def _of_space(outcome: Outcome, space: str) -> Iterator[Claim]:
    domain, time, both = (f"{space}-{form}" for form in FORMS)
    for one in (space, both):
        if outcome.has(one, *BASELINES):
            values = {name: outcome.micro(name) for name in (one, *BASELINES)}
            holds = values[one] > max(values[base] for base in BASELINES)
            yield Claim(finding=f"{one} is above both baselines", space=space, holds=holds, values=values)
    if outcome.knows_roles and outcome.has(domain):
        yield _rises(outcome, "D lowers professionals", "professional", "percentiles", (domain, space))
        yield _rises(outcome, "D sets professionals behind", "professional", "behind", (space, domain))
    if outcome.knows_roles and outcome.has(time):
        yield _rises(outcome, "T sets the curious behind", "curious", "behind", (space, time))
        yield _rises(outcome, "T takes places from the curious", "curious", "taken", (time, space))
    if outcome.has(domain, time, both):
        values = {name: outcome.micro(name) for name in (space, domain, time, both)}
        yield Claim(
            finding="DT is the best of its space",
            space=space,
            holds=values[both] == max(values.values()),
            values=values,
        )


def _rises(outcome: Outcome, finding: str, role: str, what: str, measures: tuple[str, str]) -> Claim:
    """A claim that a number of a role is lower by the first measure than by the second."""
    lower, higher = (outcome.role(measure, role, what) for measure in measures)
    values = dict(zip(measures, (lower, higher), strict=True))
    return Claim(finding=finding, space=measures[0].partition("-")[0], holds=lower < higher, values=values)
