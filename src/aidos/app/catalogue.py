"""Every mechanism by name. Packages of third parties join through entry points of the group ``aidos.mechanisms``.

A mechanism is loaded when it is asked for, so that listing the names costs nothing. A name of the house cannot be taken
over by a package: what a recipe says stays what it meant.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points

from aidos.errors import ParameterError

__all__ = ["BUILT_IN", "SETTINGS", "find_mechanism", "mechanism_names", "name_of", "room_of"]

GROUP = "aidos.mechanisms"
BUILT_IN = {
    "click-counts": "aidos.rooms.publish.click_counts:ClickCounts",
    "count-gaussian": "aidos.rooms.publish.count_gaussian:CountGaussian",
    "differential-privacy-risk": "aidos.rooms.risk.measure:DifferentialPrivacyRisk",
    "entropy-risk": "aidos.rooms.risk.measure:EntropyRisk",
    "equity-of-attention": "aidos.rooms.fairness.equity:EquityOfAttention",
    "k-keyword-anonymity": "aidos.rooms.publish.anonymity:KKeywordAnonymity",
    "k-query-anonymity": "aidos.rooms.publish.anonymity:KQueryAnonymity",
    "k-session-anonymity": "aidos.rooms.publish.anonymity:KSessionAnonymity",
    "laplace-threshold": "aidos.rooms.publish.laplace_threshold:LaplaceThreshold",
    "log-release": "aidos.rooms.publish.multi:LogRelease",
    "mediator-accounts": "aidos.rooms.shield.mediator.accounts:MediatorAccounts",
    "policy-gaussian": "aidos.rooms.publish.policy_gaussian:PolicyGaussian",
    "pool-release": "aidos.rooms.publish.pool:PoolRelease",
    "profile-generalisation": "aidos.rooms.shield.profile.generalisation:ProfileGeneralisation",
    "risk-overview": "aidos.rooms.risk.overview:RiskOverview",
    "risk-quantiles": "aidos.rooms.risk.local:RiskQuantiles",
    "risk-ranking": "aidos.rooms.risk.ranking:RiskRanking",
    "rounds": "aidos.rooms.publish.rounds:Rounds",
    "steered-counts": "aidos.rooms.publish.steered:SteeredCounts",
    "steered-rounds": "aidos.rooms.publish.steered:SteeredRounds",
    "topical-risk": "aidos.rooms.risk.measure:TopicalRisk",
    "truncated-geometric": "aidos.rooms.publish.truncated_geometric:TruncatedGeometric",
    "weighted-gaussian": "aidos.rooms.publish.weighted_gaussian:WeightedGaussian",
    "zealous": "aidos.rooms.publish.zealous:Zealous",
}
"""Name to module and class."""
SETTINGS = {
    "profile-audit": "aidos.rooms.audit.profileaudit:ProfileAudit",
    "search-exposure": "aidos.rooms.exposure.queries.settings:SearchExposure",
}
"""What promises nothing and is a recipe all the same: parameters of a job, by name."""


def mechanism_names(room: str = "") -> list[str]:
    """All names, in order; of one room and of packages of third parties when ``room`` is given."""
    return sorted(name for name in _places() if not room or room_of(name) in {room, ""})


def room_of(name: str) -> str:
    """The room that a mechanism of the house belongs to; empty for those of third parties."""
    return (BUILT_IN | SETTINGS).get(name, "..").split(".")[2]


def name_of(kind: type) -> str:
    """The name of a mechanism of the house, or of a job's parameters."""
    place = f"{kind.__module__}:{kind.__qualname__}"
    return next(name for name, built_in in (BUILT_IN | SETTINGS).items() if built_in == place)


def find_mechanism(name: str) -> type:
    """The class of that name."""
    places = _places()
    if name not in places:
        close = get_close_matches(name, places, n=1)
        raise ParameterError(
            f"there is no mechanism called {name}",
            hint=f"did you mean {close[0]}?" if close else f"choose from {', '.join(sorted(places))}",
        )
    module, _, attribute = places[name].partition(":")
    found: type = getattr(import_module(module), attribute)
    return found


def _places() -> dict[str, str]:
    return {entry.name: entry.value for entry in entry_points(group=GROUP)} | BUILT_IN | SETTINGS
