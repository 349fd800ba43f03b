"""`aidos rank`: addresses for a query, from a released log."""

from __future__ import annotations

from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.app.console import Common, show, show_json, tell
from aidos.app.standardinput import PrivateText
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.model.clickgraph import ClickGraph

__all__ = ["rank"]


def rank(
    release: Path,
    query: PrivateText,
    /,
    *,
    most: int = 10,
    steps: int = 3,
    common: Common | None = None,
) -> int:
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

    Parameters
    ----------
    release
        The directory that `aidos publish` wrote, with clicks; pairs of queries let the walk go further.
    query
        The query, in quotes where it has several words, or - for the standard input.
    most
        Addresses to show, at most; 10 unless given.
    steps
        Steps of the walk; 3 unless given, and 1 for the clicks of this very query.
    """
    from aidos.app.releasedlog import normalised_query, open_released
    from aidos.model.clickgraph import ClickGraph
    from aidos.report.terminal import rows_table

    common = common or Common()
    for name, value in (("--most", most), ("--steps", steps)):
        if value < 1:
            raise ParameterError(f"{name} must be at least 1, got {value}", hint="see: aidos rank --help")
    asked = normalised_query(query)
    released = open_released(release)
    graph = ClickGraph.of(released.require("clicks"), released.pairs)
    found = graph.rank(asked, most=most, steps=steps)
    if common.json:
        about = {"release": str(release), "statement": released.statement, "query": asked}
        show_json({**about, "known": _is_known(graph, asked), "addresses": [asdict(each) for each in found]})
        return 0
    if found:
        show(rows_table(("address", "probability"), [(each.address, f"{each.score:.4f}") for each in found]))
    else:
        show("no addresses")
        tell(_why_none(graph, asked), quiet=common.quiet)
    if not released.has_counts:
        tell("the release has no counts: whatever it has weighs the same", quiet=common.quiet)
    return 0


def _is_known(graph: ClickGraph, query: str) -> bool:
    return bool(graph.places([query])[0] >= 0)


def _why_none(graph: ClickGraph, query: str) -> str:
    if _is_known(graph, query):
        return "the walk meets no click in so many steps: try more with --steps"
    near = get_close_matches(query, map(str, graph.queries.to_pylist()), n=3)
    return "the release has no clicks of this query" + (f"; it has some of: {', '.join(near)}" if near else "")
