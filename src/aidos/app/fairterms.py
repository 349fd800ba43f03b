"""Options of the fairness commands, as values of the floors below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import Parameter

from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.errors import Problem
    from aidos.fairness.equity import EquityOfAttention
    from aidos.ingest.rankings.rows import RankingRows

__all__ = ["Attending", "FairTerms", "HowToReadRankings"]

MECHANISM = "equity-of-attention"


@Parameter(name="*", group="Attention and quality")
@dataclass(frozen=True, slots=True, kw_only=True)
class Attending:
    """How attention and quality are measured."""

    attention: str | None = None
    """How attention falls with the position, for example singular or dcg:positions=10; geometric to 5 unless given."""

    gain: str | None = None
    """What relevance is worth in DCG: paper, linear, exponential-1 or exponential-5; paper unless given."""

    half_life: float | None = None
    """After so many rankings the past counts half; it never fades unless given."""

    level: str | None = None
    """Whose account is kept: subject or actor; subject unless given."""

    short_rankings: str | None = None
    """Rankings with fewer subjects than positions with attention: refuse or share; refuse unless given."""

    def given(self) -> dict[str, object]:
        """What was asked for."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}

    def equity(self, **more: object) -> EquityOfAttention:
        """The mechanism with these parameters."""
        from aidos.app.recipe import fill_parameters
        from aidos.fairness.equity import EquityOfAttention

        made: EquityOfAttention = fill_parameters(MECHANISM, EquityOfAttention, {**self.given(), **more})
        return made


@Parameter(name="*", group="Fairness")
@dataclass(frozen=True, slots=True, kw_only=True)
class FairTerms:
    """What the re-ranker is to keep and to strive for."""

    quality_floor: float | None = None
    """Least NDCG-quality of every ranking: 1 reorders equals alone, 0 allows anything; 0.8 unless given."""

    unfairness_ceiling: float | None = None
    """Reorder no more than it takes to keep unfairness at or below this; as fair as possible unless given."""

    objective: str | None = None
    """What each step minimises: adaptive, absolute or squared; adaptive unless given."""

    searcher_floor: float | None = None
    """Least average quality over the rankings of any one searcher."""

    recipe: Path | None = None
    """A recipe's file, in place of these options and those of attention."""

    def equity(self, attending: Attending) -> EquityOfAttention:
        """The mechanism with these parameters, or that of the recipe."""
        options = ("quality_floor", "unfairness_ceiling", "objective", "searcher_floor")
        given = {name: value for name in options if (value := getattr(self, name)) is not None}
        if self.recipe is None:
            return attending.equity(**given)
        if given or attending.given():
            raise ParameterError("a recipe takes the place of the other options", hint="change the recipe instead")
        return _from_recipe(self.recipe)


@Parameter(name="*", group="How to read the rankings")
@dataclass(frozen=True, slots=True, kw_only=True)
class HowToReadRankings:
    """Options of commands that read rankings."""

    format: str = ""
    """The format, if it should not be recognised: jsonl, trec, parquet, csv or tsv."""

    column: Sequence[str] = ()
    """What the file calls a column of aidos, for example object_id=listing; may be repeated."""

    system: str = ""
    """Only the rankings of this system, where a file holds several."""

    skip_bad_rankings: bool = False
    """Leave out rankings that cannot be read, and say how many."""

    def read(self, files: Sequence[str], problems: list[Problem]) -> Iterator[RankingRows]:
        """The rankings, one at a time."""
        from aidos.ingest.rankings.reading import read_rankings

        renames = dict(_pair(text) for text in self.column)
        return read_rankings(
            files,
            format=self.format,
            columns=renames,
            system=self.system,
            skip_bad=self.skip_bad_rankings,
            problems=problems,
        )


def _pair(text: str) -> tuple[str, str]:
    """Theirs, ours: the reader asks by the name in the file."""
    ours, equals, theirs = text.partition("=")
    if not (ours and equals and theirs):
        raise ParameterError("--column takes OURS=THEIRS", hint="for example --column object_id=listing")
    return theirs, ours


def _from_recipe(path: Path) -> EquityOfAttention:
    from aidos.app.recipe import fill_parameters, read_recipe
    from aidos.fairness.equity import EquityOfAttention

    recipe = read_recipe(path)
    if recipe.mechanism != MECHANISM:
        raise ParameterError(
            f"{path} is a recipe for {recipe.mechanism}, not for {MECHANISM}", hint="see: aidos publish --help"
        )
    made: EquityOfAttention = fill_parameters(MECHANISM, EquityOfAttention, recipe.parameters)
    return made
