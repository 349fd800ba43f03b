"""Will anything come out? Said from public numbers, before anything is spent.

How often an item must occur follows from the noise and the threshold, so it is known exactly. What a log of a given
number of people usually gives is a guess by a public model: the sample world. There the share of people who have the
r-th most frequent item does not depend on how many people there are. `SHARES` holds those shares, measured once by
`benchmarks/outlook.py` on 20,000 people, and `ITEMS` how many items a person has on average, L. Where m items of each
person are kept blindly, an item is kept with probability 1 - e^(-m/L), near enough. Where a first round steers, an item
must stand out there, with a weight of 1/sqrt(L) from each person, and is then kept of `STEERED` of those who have it.

What it does not promise: that other logs are like it. People of the sample world ask some fifty queries each, and a few
sites are known to everybody. A log of one day, or of people with little in common, gives less. Nothing here looks at
the data that are to be released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import NormalDist
from types import MappingProxyType

import numpy as np

from aidos.core.mechanism import PublicFacts
from aidos.errors import ParameterError
from aidos.jobs.desk import Desk
from aidos.rooms.publish.catalogue import Built
from aidos.rooms.publish.multi import LogRelease
from aidos.rooms.publish.tables import TableRelease

__all__ = ["ITEMS", "RANKS", "SHARES", "Needed", "Outlook", "needed_people", "outlook", "refuse_next_to_nothing"]

NEARLY_ALWAYS = 0.99
NEXT_TO_NOTHING = 40
"""Items in all, by the sample world. Real logs have less in common: two of them gave none where it gives up to 29."""
LARGE_SHARE = 0.1
"""Of all people: where there is no model, few items are expected that more people than this have in common."""

RANKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
SHARES: Mapping[str, Sequence[float]] = MappingProxyType(
    {
        "keywords": (0.649, 0.646, 0.547, 0.335, 0.209, 0.15, 0.115, 0.0868, 0.0504, 0.0236, 0.00135),
        "queries": (0.376, 0.268, 0.179, 0.121, 0.0679, 0.0316, 0.0208, 0.0145, 0.00928, 0.00637, 0.00411),
        "clicks": (0.343, 0.241, 0.159, 0.105, 0.0596, 0.0249, 0.0118, 0.00632, 0.00341, 0.00216, 0.00145),
        "pairs": (0.071, 0.0675, 0.0427, 0.0243, 0.0219, 0.0105, 0.00522, 0.00266, 0.00155, 0.0011, 0.000803),
    }
)
"""Of all people, those who have the item of each of `RANKS`, by kind of item."""
ITEMS: Mapping[str, float] = MappingProxyType({"keywords": 75.9, "queries": 52.3, "clicks": 38.6, "pairs": 20.6})
"""Items that a person has on average."""
STEERED = 0.7
"""Of the people who have an item that a first round found, those who are counted for it: measured, about."""
CANDIDATES = 10
"""Items that a person shares a steered weight out over, where more would count."""
SIZES = tuple(digit * 10**zeros for zeros in range(2, 9) for digit in (1, 2, 5))
"""Numbers of people that are tried where the public one is not known."""
MOST_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True)
class Needed:
    """How many people an item needs to pass."""

    half: float
    """With this many it passes as often as not."""
    nearly_always: float
    """With this many it passes in 99 of 100 releases."""

    def __str__(self) -> str:
        half, nearly = f"{self.half:,.0f}", f"{self.nearly_always:,.0f}"
        return f"passes as often as not with about {half} people, nearly always from {nearly} on"


@dataclass(frozen=True, slots=True)
class Outlook:
    """What may be expected of one kind of items."""

    kind: str
    needed: Needed
    people: int | None = None
    """In the data, where that is public."""
    usual: int | None = None
    """Items that a log like the sample world's gives; None where there is no model or no number of people."""

    def __str__(self) -> str:
        if self.people is None:
            return f"{self.kind}: an item {self.needed}"
        share = f"{100 * self.needed.half / self.people:.2g} % of {self.people:,}"
        usual = "" if self.usual is None else f"; a log like the sample world's gives about {self.usual:,}"
        return f"{self.kind}: an item {self.needed} (that is {share}){usual}"

    def facts(self) -> dict[str, object]:
        """For machines."""
        needed = {"half": round(self.needed.half, 1), "nearly_always": round(self.needed.nearly_always, 1)}
        return {"items": self.kind, "people_needed": needed, "usual": self.usual}


def outlook(built: Built, facts: PublicFacts) -> list[Outlook]:
    """For each kind of items of a release; without those whose mechanism has no threshold."""
    if isinstance(built, LogRelease | TableRelease):
        parts = built.parts() if isinstance(built, LogRelease) else (("items", built.mechanism),)
        limits = {kind: (part.calibration(facts), part.items_per_person) for kind, part in parts}
        return [
            Outlook(kind, needed, facts.people, _usual(kind, facts, _people_wanted(kind, limit, needed, calibrated)))
            for kind, (calibrated, limit) in limits.items()
            if (needed := needed_people(calibrated, limit))
        ]
    calibrated = built.calibration(facts)
    kinds = [name.removesuffix("_threshold") for name in calibrated if name.endswith("_threshold")]
    tables = {kind: _under(calibrated, f"{kind}_") for kind in kinds}
    return [Outlook(kind, needed, facts.people) for kind, own in tables.items() if (needed := needed_people(own, 1))]


def refuse_next_to_nothing(built: Built, expected: Sequence[Outlook], desk: Desk) -> None:
    """ParameterError with the numbers, where a log of the public size usually gives next to nothing, or it has none."""
    if any(one.people is None for one in expected):
        enough = _enough(built)
        raise ParameterError(
            "whether anything would come out cannot be told without a public number of people, and the budget would be "
            "spent. " + "; ".join([*map(str, expected), *([enough] if enough else [])]),
            hint=f"say with {desk.spelled('people')} how many there are, about, if that may be known (it stands in the "
            f"release); add {desk.spelled('yes', True)} to spend the budget without",
        )
    rare = all(one.people is not None and one.needed.half > LARGE_SHARE * one.people for one in expected)
    usual = [one.usual for one in expected if one.usual is not None]
    if not expected or not (sum(usual) < NEXT_TO_NOTHING if usual else rare):
        return
    raise ParameterError(
        "next to nothing would come out, and the budget would be spent. " + "; ".join(map(str, expected)),
        hint=f"a larger {desk.spelled('epsilon')}, fewer kinds of items or more people's data; "
        f"add {desk.spelled('yes', True)} to spend it all the same",
    )


def _enough(built: Built) -> str:
    """From how many people on a release is not next to nothing, in words; empty where there is no model."""
    for people in SIZES:
        usual = [one.usual for one in outlook(built, PublicFacts(people=people))]
        if sum(filter(None, usual)) >= NEXT_TO_NOTHING:
            return f"a log like the sample world's gives {NEXT_TO_NOTHING} items in all from about {people:,} people on"
    return ""


def needed_people(calibration: Mapping[str, float], items_per_person: int) -> Needed | None:
    """From the noise and the threshold of a mechanism; None where it has no threshold that people could pass.

    Where people share out weights, all who have the item are taken to have as many items as count, `CANDIDATES` at most
    where a first round steers.
    """
    match calibration:
        case {"as_often_as_not_from": half, "always_from": always}:
            return Needed(half, always)
        case {"second_threshold": threshold, "scale": scale} | {"threshold": threshold, "scale": scale}:
            return Needed(threshold, threshold + scale * log(0.5 / (1 - NEARLY_ALWAYS)))
        case {"threshold": threshold, "sigma": sigma}:
            shared_out = {"unit", "cap", "first_threshold"} & calibration.keys()
            parts = min(items_per_person, CANDIDATES) if "candidate" in calibration else items_per_person
            return _gaussian(threshold, sigma, 1 / sqrt(parts) if shared_out else 1.0)
        case {"threshold_1": _}:
            last = max(int(name.removeprefix("threshold_")) for name in calibration if name.startswith("threshold_"))
            own = calibration[f"threshold_{last}"], calibration[f"sigma_{last}"]
            return _gaussian(*own, 1 / sqrt(items_per_person))
        case _:
            return None


def _gaussian(threshold: float, sigma: float, weight: float) -> Needed:
    return Needed(threshold / weight, (threshold + sigma * NormalDist().inv_cdf(NEARLY_ALWAYS)) / weight)


def _people_wanted(kind: str, limit: int, needed: Needed, calibration: Mapping[str, float]) -> float:
    """People who must have an item, all of their items counted; infinite where there is no model of the kind."""
    if kind not in SHARES:
        return inf
    if "candidate" in calibration:
        return max(needed.half, calibration["candidate"] * sqrt(ITEMS[kind])) / STEERED
    return needed.half / (1 - exp(-limit / ITEMS[kind]))


def _usual(kind: str, facts: PublicFacts, wanted: float) -> int | None:
    """How many items of the sample world so many people have: the rank up to which an item has as many as wanted."""
    if facts.people is None or kind not in SHARES:
        return None
    share = wanted / facts.people
    ranks, shares = np.log(RANKS), np.log(SHARES[kind])
    if share > SHARES[kind][0]:
        return 0
    if share >= SHARES[kind][-1]:
        return _about(exp(np.interp(-log(share), -shares, ranks)))
    fall = (shares[-1] - shares[-2]) / (ranks[-1] - ranks[-2])  # beyond what was measured, along the last power law
    return _about(min(exp(ranks[-1] + (log(share) - shares[-1]) / fall), MOST_ITEMS))


def _about(number: float) -> int:
    """To two digits: more would say that the guess is better than it is."""
    return int(float(f"{number:.2g}"))


def _under(calibration: Mapping[str, float], prefix: str) -> dict[str, float]:
    return {name.removeprefix(prefix): value for name, value in calibration.items() if name.startswith(prefix)}
