"""What to release, and under which promise: what a release and a plan have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import CROWD
from aidos.errors import ParameterError
from aidos.jobs.job import Commas, Section
from aidos.rooms.publish.histogram import ItemParameters

if TYPE_CHECKING:
    from aidos.jobs.recipe import Recipe

__all__ = ["TITLE", "What"]

TITLE = "What to release"


@dataclass(frozen=True, slots=True, kw_only=True)
class What:
    """What to release, and under which promise."""

    items: Annotated[tuple[str, ...], Commas(repeated=True)] = ("queries",)
    """Kinds of items with commas between: keywords, queries, clicks, pairs."""
    mechanism: str = "steered-counts"
    """How: steered-counts, steered-rounds (no counts, most items), count-gaussian, zealous, pool-release..."""
    budget: Annotated[ItemParameters | None, Section(TITLE)] = None
    shares: Annotated[tuple[float, ...], Commas(repeated=True)] = ()
    """Shares of the budget, one for each kind with commas between; equal if unset."""
    set: tuple[str, ...] = ()
    """Another parameter of the mechanism, as NAME=VALUE; may be repeated."""
    people: Annotated[int | None, Ge(1), CROWD] = None
    """How many people there are, about, if that is public; some mechanisms need it. The ledger may know it."""
    person: str = ""
    """For a table that is no search log: the column that says whose row it is."""
    item: Annotated[tuple[str, ...], Commas(repeated=True)] = ()
    """For such a table: the columns that make one item, with commas between."""
    sets: Annotated[int, Ge(1), Le(100)] = 1
    """For such a table: release sets of up to so many items."""
    results: str = ""
    """For click-counts: a public list, with query, tab, result on each line."""
    recipe: Path | None = None
    """A recipe's file, in place of these options."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def to_recipe(self) -> Recipe:
        """As a recipe; mechanisms that need the number of people get the one that is public."""
        from aidos.jobs.recipe import Recipe, read_recipe
        from aidos.rooms.publish.catalogue import complete

        if self.recipe is not None:
            if replace(self, people=None) != What(recipe=self.recipe):
                raise ParameterError("a recipe takes the place of the other options", hint="change the recipe instead")
            return read_recipe(self.recipe)
        return complete(
            Recipe(
                mechanism=self.mechanism,
                items=() if self.person else self.items,
                parameters=dict(self._parameters()),
                shares=self.shares,
                person=self.person,
                columns=self.item,
                largest_set=self.sets,
                results=self.results,
            )
        )

    def _parameters(self) -> Iterator[tuple[str, object]]:
        """Those that were given: what the mechanism does not have is refused when it is made."""
        from aidos.rooms.publish.catalogue import find_mechanism

        takes = {each.name for each in fields(find_mechanism(self.mechanism))}
        given = {} if self.budget is None else asdict(self.budget)
        usual = asdict(ItemParameters())
        kept = {name: value for name, value in given.items() if name in takes or value != usual[name]}
        yield from (kept or given).items()
        if self.people is not None and "people" in takes:
            yield "people", self.people
        yield from map(_parameter, self.set)


def _parameter(text: str) -> tuple[str, object]:
    """NAME=VALUE; a value that looks like a number is one."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ParameterError("--set takes NAME=VALUE", hint="for example --set promise=probabilistic")
    for kind in (int, float):
        try:
            return name.replace("-", "_"), kind(value)
        except ValueError:
            continue
    return name.replace("-", "_"), value
