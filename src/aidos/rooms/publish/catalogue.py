"""Every mechanism that publishes, by name, and what a recipe makes of it.

Packages of third parties join through entry points of the group ``aidos.mechanisms``. A mechanism is loaded when it is
asked for, so that listing the names costs nothing. A name of the house cannot be taken over by a package: what a recipe
says stays what it meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, cast

from aidos.core.checks import did_you_mean
from aidos.errors import ParameterError
from aidos.jobs.recipe import Recipe, fill_parameters
from aidos.rooms.publish.multi import WHOLE_LOG_MECHANISMS, HistogramMechanism, LogRelease, WholeLog, WholeLogMechanism
from aidos.rooms.publish.tables import TableRelease

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["BUILT_IN", "Built", "build_mechanism", "build_release", "complete", "find_mechanism", "mechanism_names"]

Built = LogRelease | TableRelease | WholeLog
"""What a recipe describes: a mechanism with the items, the table or the log that it is about."""
GROUP = "aidos.mechanisms"
BUILT_IN: Mapping[str, str] = {
    "click-counts": "click_counts:ClickCounts",
    "count-gaussian": "count_gaussian:CountGaussian",
    "k-keyword-anonymity": "anonymity:KKeywordAnonymity",
    "k-query-anonymity": "anonymity:KQueryAnonymity",
    "k-session-anonymity": "anonymity:KSessionAnonymity",
    "laplace-threshold": "laplace_threshold:LaplaceThreshold",
    "log-release": "multi:LogRelease",
    "policy-gaussian": "policy_gaussian:PolicyGaussian",
    "pool-release": "pool:PoolRelease",
    "rounds": "rounds:Rounds",
    "steered-counts": "steered:SteeredCounts",
    "steered-rounds": "steered:SteeredRounds",
    "truncated-geometric": "truncated_geometric:TruncatedGeometric",
    "weighted-gaussian": "weighted_gaussian:WeightedGaussian",
    "zealous": "zealous:Zealous",
}
"""Name to module of this room, and class."""
ELSEWHERE: Mapping[str, str] = {
    "differential-privacy-risk": "aidos risk rank",
    "entropy-risk": "aidos risk rank",
    "equity-of-attention": "aidos fair rerank",
    "exposure-audit": "aidos expose compute",
    "mediator-accounts": "aidos mediate assign",
    "profile-audit": "aidos audit learn",
    "profile-generalisation": "aidos shield explain",
    "risk-overview": "aidos risk rank",
    "risk-quantiles": "aidos risk rank",
    "risk-ranking": "aidos risk rank",
    "search-exposure": "aidos expose compute",
    "topical-risk": "aidos risk rank",
}
"""Recipes that publish nothing, and the commands that take them."""


def mechanism_names() -> list[str]:
    """All names, in order."""
    return sorted(_places())


def find_mechanism(name: str) -> type:
    """The class of that name."""
    if name in ELSEWHERE:
        raise ParameterError(f"{name} publishes nothing", hint=f"see: {ELSEWHERE[name]} --help")
    places = _places()
    if name not in places:
        raise ParameterError(f"there is no mechanism called {name}", hint=did_you_mean(name, sorted(places)))
    module, _, attribute = places[name].partition(":")
    found: type = getattr(import_module(module), attribute)
    return found


def build_mechanism(name: str, parameters: Mapping[str, object]) -> HistogramMechanism | WholeLogMechanism:
    """A mechanism that publishes, with these parameters; ParameterError names everything that is wrong."""
    kind = find_mechanism(name)
    if kind is LogRelease:
        hint = "name the mechanism of the parts, and the kinds of items: --items queries,clicks"
        raise ParameterError("log-release is what several kinds of items make", hint=hint)
    return cast("HistogramMechanism | WholeLogMechanism", fill_parameters(name, kind, parameters))


def build_release(recipe: Recipe) -> Built:
    """The mechanism that a recipe describes."""
    mechanism = build_mechanism(recipe.mechanism, recipe.parameters)
    if isinstance(mechanism, WHOLE_LOG_MECHANISMS):
        return WholeLog(mechanism=mechanism, results=Path(recipe.results) if recipe.results else None)
    if recipe.person:
        columns, largest = recipe.columns, recipe.largest_set
        return TableRelease(mechanism=mechanism, person=recipe.person, columns=columns, largest_set=largest)
    return LogRelease(mechanism=mechanism, kinds=recipe.items, shares=recipe.shares)


def complete(recipe: Recipe) -> Recipe:
    """The same recipe with every parameter of the mechanism written out, also those at their defaults."""
    mechanism = build_mechanism(recipe.mechanism, recipe.parameters)
    values = {each.name: getattr(mechanism, each.name) for each in fields(cast("DataclassInstance", mechanism))}
    written = {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}
    return replace(recipe, parameters={name: value for name, value in written.items() if value is not None})


def _places() -> dict[str, str]:
    house = {name: f"aidos.rooms.publish.{place}" for name, place in BUILT_IN.items()}
    return {entry.name: entry.value for entry in entry_points(group=GROUP)} | house
