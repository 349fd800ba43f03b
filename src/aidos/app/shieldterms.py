"""Options of commands that decide what of a profile is shown: which profile, and the terms of the decision."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import Parameter

from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation

__all__ = ["MECHANISM", "ShieldTerms", "WhoseProfile"]

MECHANISM = "profile-generalisation"
PARAMETER = re.compile(r"\b(risk_limit|distinct_from|algorithm|risk)(?= must)")


@Parameter(name="*", group="Whose profile")
@dataclass(frozen=True, slots=True, kw_only=True)
class WhoseProfile:
    """Which profile, on which taxonomy."""

    profile: Path | None = None
    """The profile; the one in the usual place unless given."""

    taxonomy: Path | None = None
    """The taxonomy it was built with, where that is not the one that comes with aidos."""


@Parameter(name="*", group="What may be shown")
@dataclass(frozen=True, slots=True, kw_only=True)
class ShieldTerms:
    """How much may be given away, and how a profile is pruned to keep to that."""

    risk_limit: float | None = None
    """How much of what is sensitive may be given away, from 0 (no more than is expected) to 1; 0.1 unless given."""

    distinct_from: float | None = None
    """Power from which a query needs no profile, from 0 to 1; 0.82 unless given."""

    algorithm: str | None = None
    """How the profile is pruned: ratio, greedy-il, greedy-dp, or exact (small profiles only); ratio unless given."""

    risk: str | None = None
    """What risk means: excess, or paper to compare with; excess unless given."""

    recipe: Path | None = None
    """A recipe's file, in place of these options."""

    def mechanism(self) -> ProfileGeneralisation:
        """The mechanism with these parameters, or that of the recipe."""
        from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation

        options = ("risk_limit", "distinct_from", "algorithm", "risk")
        given = {name: value for name in options if (value := getattr(self, name)) is not None}
        if self.recipe is not None:
            if given:
                raise ParameterError("a recipe takes the place of the other options", hint="change the recipe instead")
            return _from_recipe(self.recipe)
        try:
            return ProfileGeneralisation(**given)
        except ParameterError as error:
            words = PARAMETER.sub(lambda found: f"--{found[1].replace('_', '-')}", error.message.partition(": ")[2])
            raise ParameterError(words, hint="see: aidos shield explain --help") from error


def _from_recipe(path: Path) -> ProfileGeneralisation:
    from aidos.app.recipe import fill_parameters, read_recipe
    from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation

    recipe = read_recipe(path)
    if recipe.mechanism != MECHANISM:
        raise ParameterError(
            f"{path} is a recipe for {recipe.mechanism}, not for {MECHANISM}", hint="name another recipe"
        )
    made: ProfileGeneralisation = fill_parameters(MECHANISM, ProfileGeneralisation, recipe.parameters)
    return made
