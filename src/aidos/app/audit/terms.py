"""Options of the audit itself, as a mechanism of the room."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import Parameter

from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.rooms.audit.profileaudit import ProfileAudit

__all__ = ["MECHANISM", "AuditTerms", "recipe_text"]

MECHANISM = "profile-audit"
OPTION = re.compile(r"\b(method|level|confidence|draws|evidence|seed)(?= must)")


@Parameter(name="*", group="How to learn")
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTerms:
    """How the profile is learned, and how sure the verdict has to be."""

    method: str | None = None
    """learning (LTP-EM) or inference (LTP-INF, faster, with the numbers of the paper); learning unless given."""

    level: float | None = None
    """How often a false alarm is allowed where nothing is personalised, between 0 and 1; 0.05 unless given."""

    confidence: float | None = None
    """Of the intervals, between 0 and 1; 0.95 unless given."""

    draws: int | None = None
    """How often the searches are drawn again for the intervals; 100 unless given."""

    evidence: int | None = None
    """How many searches are kept as evidence; 10 unless given."""

    seed: int | None = None
    """Of everything that is drawn: the same seed gives the same finding; 0 unless given."""

    recipe: Path | None = None
    """A recipe's file, in place of these options; every audit has its own in recipe.toml."""

    def mechanism(self) -> ProfileAudit:
        """The mechanism with these parameters, or that of the recipe."""
        from aidos.rooms.audit.profileaudit import ProfileAudit

        given = {
            each.name: value
            for each in fields(self)
            if each.name != "recipe" and (value := getattr(self, each.name)) is not None
        }
        if self.recipe is not None:
            if given:
                raise ParameterError("a recipe takes the place of the other options", hint="change the recipe instead")
            return _from_recipe(self.recipe)
        try:
            return ProfileAudit(**given)
        except ParameterError as error:
            words = OPTION.sub(lambda found: f"--{found[1]}", error.message.partition(": ")[2])
            raise ParameterError(words, hint="see: aidos audit learn --help") from error


def recipe_text(audit: ProfileAudit) -> str:
    """The recipe of an audit, with every parameter written out."""
    from aidos.app.recipe import Recipe

    return Recipe(mechanism=MECHANISM, items=(), parameters=asdict(audit)).to_toml()


def _from_recipe(path: Path) -> ProfileAudit:
    from aidos.app.recipe import fill_parameters, read_recipe
    from aidos.rooms.audit.profileaudit import ProfileAudit

    recipe = read_recipe(path)
    if recipe.mechanism != MECHANISM:
        raise ParameterError(
            f"{path} is a recipe for {recipe.mechanism}, not for {MECHANISM}", hint="name another recipe"
        )
    made: ProfileAudit = fill_parameters(MECHANISM, ProfileAudit, recipe.parameters)
    return made
