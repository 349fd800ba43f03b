"""`aidos suggest`: other ways to ask a query, from a released log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.app.console import Common, show, show_json, tell
from aidos.app.standardinput import PrivateText
from aidos.errors import InputError, ParameterError

if TYPE_CHECKING:
    from aidos.app.releasedlog import ReleasedLogTables
    from aidos.model.substitution.suggesting import Suggestion

__all__ = ["suggest"]


def suggest(
    release: Path,
    query: PrivateText,
    /,
    *,
    most: int = 5,
    least_ratio: float = 100.0,
    common: Common | None = None,
) -> int:
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

    Parameters
    ----------
    release
        The directory that `aidos publish` wrote, with pairs of queries.
    query
        The query, in quotes where it has several words, or - for the standard input.
    most
        Suggestions to show, at most; 5 unless given.
    least_ratio
        How strongly the two must belong together (log-likelihood ratio); 100 unless given, less for small releases.
    """
    from aidos.app.releasedlog import normalised_query, open_released
    from aidos.model.substitution.suggesting import SubstitutionModel, Suggesting

    common = common or Common()
    if most < 1:
        raise ParameterError(f"--most must be at least 1, got {most}")
    suggesting = Suggesting(least_ratio=least_ratio)
    asked = normalised_query(query)
    released = open_released(release)
    pairs = released.require("pairs")
    _refuse_without_counts(released)
    model = SubstitutionModel.of(released.queries, pairs, suggesting)
    found = model.suggest(asked, most)
    if common.json:
        phrases = list(model.phrases.split(asked))
        about = {"release": str(release), "statement": released.statement, "query": asked, "phrases": phrases}
        show_json({**about, "suggestions": [asdict(each) for each in found]})
    elif found:
        _show(found, asked)
    else:
        weaker = SubstitutionModel.of(released.queries, pairs, Suggesting(least_ratio=0)).suggest(asked, most)
        _show_nothing(weaker, common)
    return 0


def _refuse_without_counts(released: ReleasedLogTables) -> None:
    if not released.has_counts:
        raise InputError(
            f"{released.directory} says which pairs are frequent, but not how frequent, so none is better than another",
            hint="ask its owner for counts: aidos publish LOG --items queries,pairs -o DIR",
        )


def _show(found: Sequence[Suggestion], asked: str) -> None:
    from aidos.report.terminal import rows_table

    rows = [(each.query, f"{each.score:,.1f}", _change(each, asked)) for each in found]
    show(rows_table(("suggestion", "log-likelihood ratio", "replaced"), rows))


def _change(made: Suggestion, asked: str) -> str:
    return "the whole query" if made.replaced == asked else f"{made.replaced} by {made.by}"


def _show_nothing(weaker: Sequence[Suggestion], common: Common) -> None:
    show("no suggestions")
    if weaker:
        tell(
            f"the strongest has a log-likelihood ratio of {weaker[0].score:,.1f}: "
            f"--least-ratio {floor(weaker[0].score)} shows it",
            quiet=common.quiet,
        )
    else:
        tell("the release has no pair with this query or a phrase of it", quiet=common.quiet)
