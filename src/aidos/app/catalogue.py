"""Every mechanism by name. Packages of third parties join through entry points of the group ``aidos.mechanisms``.

A mechanism is loaded when it is asked for, so that listing the names costs nothing. A name of the house cannot be taken
over by a package: what a recipe says stays what it meant.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points

from aidos.errors import ParameterError

__all__ = ["BUILT_IN", "find_mechanism", "mechanism_names", "room_of"]

GROUP = "aidos.mechanisms"
BUILT_IN = {
    "click-counts": "aidos.publish.click_counts:ClickCounts",
    "count-gaussian": "aidos.publish.count_gaussian:CountGaussian",
    "differential-privacy-risk": "aidos.exposure.risk.baselines:DifferentialPrivacyRisk",
    "entropy-risk": "aidos.exposure.risk.baselines:EntropyRisk",
    "equity-of-attention": "aidos.fairness.equity:EquityOfAttention",
    "exposure-audit": "aidos.exposure.queries.audit:ExposureAudit",
    "k-keyword-anonymity": "aidos.publish.anonymity.keywords:KKeywordAnonymity",
    "k-query-anonymity": "aidos.publish.anonymity.queries:KQueryAnonymity",
    "k-session-anonymity": "aidos.publish.anonymity.sessions:KSessionAnonymity",
    "laplace-threshold": "aidos.publish.laplace_threshold:LaplaceThreshold",
    "log-release": "aidos.publish.multi:LogRelease",
    "mediator-accounts": "aidos.shield.mediator.assignment:MediatorAccounts",
    "policy-gaussian": "aidos.publish.policy_gaussian:PolicyGaussian",
    "pool-release": "aidos.publish.pool:PoolRelease",
    "profile-audit": "aidos.audit.profileaudit:ProfileAudit",
    "profile-generalisation": "aidos.shield.profile.generalisation:ProfileGeneralisation",
    "risk-overview": "aidos.exposure.risk.overview:RiskOverview",
    "risk-quantiles": "aidos.exposure.risk.quantiles:RiskQuantiles",
    "risk-ranking": "aidos.exposure.risk.ranking:RiskRanking",
    "rounds": "aidos.publish.rounds:Rounds",
    "search-exposure": "aidos.exposure.queries.settings:SearchExposure",
    "topical-risk": "aidos.exposure.risk.topical:TopicalRisk",
    "truncated-geometric": "aidos.publish.truncated_geometric:TruncatedGeometric",
    "weighted-gaussian": "aidos.publish.weighted_gaussian:WeightedGaussian",
    "zealous": "aidos.publish.zealous:Zealous",
}
"""Name to module and class."""


def mechanism_names(room: str = "") -> list[str]:
    """All names, in order; of one room and of packages of third parties when ``room`` is given."""
    return sorted(name for name in _places() if not room or room_of(name) in {room, ""})


def room_of(name: str) -> str:
    """The room that a mechanism of the house belongs to; empty for those of third parties."""
    return BUILT_IN[name].split(".")[1] if name in BUILT_IN else ""


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
    return {entry.name: entry.value for entry in entry_points(group=GROUP)} | BUILT_IN
