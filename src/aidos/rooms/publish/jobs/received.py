"""The jobs of whoever was given a release: check it, and use it to suggest queries and to rank addresses.

Only released numbers are used, so none of it costs privacy. What is asked is the asker's own: the answers are findings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from difflib import get_close_matches
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import SHOWN
from aidos.errors import InputError
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Private

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.model.clickgraph import ClickGraph
    from aidos.model.suggesting import Suggestion
    from aidos.report.page import Block

__all__ = [
    "RankAddresses",
    "RankedAddresses",
    "SuggestQueries",
    "SuggestedQueries",
    "VerifiedRelease",
    "VerifyRelease",
]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class VerifiedRelease(Finding):
    """Whether a release is what its manifest says."""

    about: str = "the release"
    directory: Path
    differences: tuple[str, ...]
    statement: str

    @property
    def exit_code(self) -> int:
        """1 where something differs."""
        return 1 if self.differences else 0

    def facts(self) -> Mapping[str, object]:
        """What differs; the promise, where nothing does."""
        return {
            "directory": str(self.directory),
            "whole": not self.differences,
            "differences": list(self.differences),
            "statement": None if self.differences else self.statement,
        }

    def blocks(self) -> Sequence[Block]:
        """A line for each difference, or the promise."""
        from aidos.report.page import Prose

        whole = (
            f"{self.directory} is whole: every file is as the manifest says, and the promise follows from its recipe"
        )
        return tuple(map(Prose, self.differences or (whole, self.statement)))


@dataclass(frozen=True, slots=True)
class VerifyRelease:
    """Check the files of a release against its manifest, and its promise against its recipe.

    The promise is computed again from the recipe, the public facts, the source of
    the noise and the entry in the ledger. The exit code is 1 when a file is missing,
    changed or not listed, or when the manifest promises anything else.

    For example:
        aidos verify release
        aidos verify release --json
    """

    directory: Path
    """The directory that `aidos publish` wrote."""

    def run(self, desk: Desk) -> VerifiedRelease:  # noqa: ARG002 (nothing to work with)
        """Compare."""
        from aidos.rooms.publish.manifest import read_manifest, release_problems

        manifest = read_manifest(self.directory)
        return VerifiedRelease(
            directory=self.directory,
            differences=tuple(release_problems(self.directory)),
            statement=str(manifest.get("statement", "")),
        )


@dataclass(frozen=True)
class _OfRelease:
    """A job that asks a release about a query."""

    release: Path
    query: Annotated[str, Private("text")]
    """The query, in quotes where it has several words, or - for the standard input."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SuggestedQueries(Finding):
    """Other ways to ask a query, the best first."""

    about: str = "the query that was asked"
    value: tuple[Suggestion, ...]
    release: Path
    statement: str
    query: str
    """As it was compared: normalised."""
    phrases: tuple[str, ...]
    strongest: float | None = None
    """Where nothing is suggested, the ratio of the best that is too weak."""

    def facts(self) -> Mapping[str, object]:
        """The suggestions, and what they are made of."""
        return {
            "release": str(self.release),
            "statement": self.statement,
            "query": self.query,
            "phrases": list(self.phrases),
            "suggestions": [asdict(each) for each in self.value],
        }

    def table(self) -> pa.Table:
        """A row for each suggestion."""
        import pyarrow as pa

        return pa.Table.from_pylist([asdict(each) for each in self.value])

    def blocks(self) -> Sequence[Block]:
        """The suggestions, with what was replaced."""
        from aidos.report.page import DataTable, Prose

        if not self.value:
            return (Prose("no suggestions"),)
        rows = tuple((each.query, f"{each.score:,.1f}", self._change(each)) for each in self.value)
        columns = ("suggestion", "log-likelihood ratio", "replaced")
        return (DataTable(caption="Other ways to ask", columns=columns, rows=rows, titled=False),)

    def remarks(self) -> Sequence[str]:
        """Why there is none."""
        if self.value:
            return ()
        if self.strongest is None:
            return ("the release has no pair with this query or a phrase of it",)
        ratio = f"the strongest has a log-likelihood ratio of {self.strongest:,.1f}"
        return (f"{ratio}: --least-ratio {floor(self.strongest)} shows it",)

    def _change(self, made: Suggestion) -> str:
        return "the whole query" if made.replaced == self.query else f"{made.replaced} by {made.by}"


@dataclass(frozen=True, slots=True)
class SuggestQueries(_OfRelease):
    """Suggest other ways to ask a query, from what a released log says.

    A suggestion is a query that often followed this one, or this one with a
    phrase that often took another's place; the best comes first. Only released
    numbers are used, so it costs no privacy. The query is normalised as those
    of the release are.

    For example:
        aidos suggest release "fern in pots"
        aidos suggest release - < query.txt
        aidos suggest release fern --most 2 --least-ratio 10
        aidos suggest release fern --json
    """

    release: Path
    """The directory that `aidos publish` wrote, with pairs of queries."""
    _: KW_ONLY
    most: Annotated[int, Ge(1), SHOWN] = 5
    """Suggestions to show, at most."""
    least_ratio: float = 100.0
    """How strongly the two must belong together (log-likelihood ratio); less for small releases."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> SuggestedQueries:  # noqa: ARG002
        """Look for phrases that others put in place of these."""
        from aidos.model.suggesting import SubstitutionModel, Suggesting
        from aidos.rooms.publish.released import normalised_query, open_released

        suggesting = Suggesting(least_ratio=self.least_ratio)
        asked = normalised_query(self.query)
        released = open_released(self.release)
        pairs = released.require("pairs")
        if not released.has_counts:
            raise InputError(
                f"{self.release} says which pairs are frequent, but not how frequent, so none is better than another",
                hint="ask its owner for counts: aidos publish LOG --items queries,pairs -o DIR",
            )
        model = SubstitutionModel.of(released.queries, pairs, suggesting)
        found = weaker = model.suggest(asked, self.most)
        if not found:
            weaker = SubstitutionModel.of(released.queries, pairs, Suggesting(least_ratio=0)).suggest(asked, self.most)
        return SuggestedQueries(
            value=tuple(found),
            release=self.release,
            statement=released.statement,
            query=asked,
            phrases=tuple(model.phrases.split(asked)),
            strongest=weaker[0].score if weaker and not found else None,
        )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RankedAddresses(Finding):
    """Addresses for a query, the most likely first."""

    about: str = "the query that was asked"
    value: tuple[tuple[str, float], ...]
    """Addresses, and the probability that a walk ends there."""
    release: Path
    statement: str
    query: str
    """As it was compared: normalised."""
    known: bool
    """Whether the release has clicks of this very query."""
    has_counts: bool
    near: tuple[str, ...] = ()
    """Queries like it that the release has clicks of."""

    def facts(self) -> Mapping[str, object]:
        """The addresses."""
        return {
            "release": str(self.release),
            "statement": self.statement,
            "query": self.query,
            "known": self.known,
            "addresses": [{"address": address, "score": score} for address, score in self.value],
        }

    def table(self) -> pa.Table:
        """A row for each address."""
        import pyarrow as pa

        return pa.Table.from_pylist([{"address": address, "score": score} for address, score in self.value])

    def blocks(self) -> Sequence[Block]:
        """The addresses."""
        from aidos.report.page import DataTable, Prose

        if not self.value:
            return (Prose("no addresses"),)
        rows = tuple((address, f"{score:.4f}") for address, score in self.value)
        return (DataTable(caption="Addresses", columns=("address", "probability"), rows=rows, titled=False),)

    def remarks(self) -> Sequence[str]:
        """Why there is none, and what the order rests on."""
        uncounted = [] if self.has_counts else ["the release has no counts: whatever it has weighs the same"]
        if self.value:
            return uncounted
        if self.known:
            return ["the walk meets no click in so many steps: try more with --steps", *uncounted]
        near = f"; it has some of: {', '.join(self.near)}" if self.near else ""
        return [f"the release has no clicks of this query{near}", *uncounted]


@dataclass(frozen=True, slots=True)
class RankAddresses(_OfRelease):
    """Rank addresses for a query by the clicks of a released log.

    A random walk starts at the query and follows clicks to addresses, and
    pairs to the queries that were asked next, as often as the release says;
    the address where it most likely ends comes first. Only released numbers
    are used, so it costs no privacy. The query is normalised as those of the
    release are.

    For example:
        aidos rank release "fern in pots"
        aidos rank release - < query.txt
        aidos rank release fern --most 3 --steps 1
        aidos rank release fern --json
    """

    release: Path
    """The directory that `aidos publish` wrote, with clicks; pairs of queries let the walk go further."""
    _: KW_ONLY
    most: Annotated[int, Ge(1), SHOWN] = 10
    """Addresses to show, at most."""
    steps: Annotated[int, Ge(1), Le(1_000)] = 3
    """Steps of the walk; 1 for the clicks of this very query."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> RankedAddresses:  # noqa: ARG002
        """Walk."""
        from aidos.model.clickgraph import ClickGraph
        from aidos.rooms.publish.released import normalised_query, open_released

        asked = normalised_query(self.query)
        released = open_released(self.release)
        graph = ClickGraph.of(released.require("clicks"), released.pairs)
        found = graph.rank(asked, most=self.most, steps=self.steps)
        known = bool(graph.places([asked])[0] >= 0)
        return RankedAddresses(
            value=tuple((each.address, each.score) for each in found),
            release=self.release,
            statement=released.statement,
            query=asked,
            known=known,
            has_counts=released.has_counts,
            near=() if found or known else _near(graph, asked),
        )


def _near(graph: ClickGraph, query: str) -> tuple[str, ...]:
    return tuple(get_close_matches(query, map(str, graph.queries.to_pylist()), n=3))
