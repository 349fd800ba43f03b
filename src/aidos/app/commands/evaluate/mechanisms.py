"""`aidos evaluate mechanisms`: every mechanism at equal guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.console import Common
from aidos.app.reading import HowToRead
from aidos.app.utilityterms import OnWhat, evaluate_utility, floats, words

__all__ = ["mechanisms"]


def mechanisms(
    files: Sequence[str] = (),
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    epsilons: str = "",
    delta: float | None = None,
    items_per_person: int | None = None,
    kinds: str = "",
    on_what: OnWhat | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Compare every mechanism at equal guarantees.

    Items, coverage and distances of counts of every mechanism over keywords,
    queries, clicks and pairs, with the cache and the suggestions that they
    allow; at the same epsilon and delta, for one person added or removed and
    for one person replaced.

    For example:
        aidos evaluate mechanisms -o results
        aidos evaluate mechanisms log.tsv --epsilons 1,3 --delta 1e-7 -o results

    Parameters
    ----------
    files
        A search log of any known format; the sample world's unless given.
    output
        The directory for results: a tidy table and a page.
    epsilons
        Strengths, with commas between; 1 unless given.
    delta
        Chance that the promise fails; 1e-6 unless given.
    items_per_person
        Items of each person that count; 10 unless given.
    kinds
        Kinds of items: keywords, queries, clicks, pairs; all that the log has unless given.
    """
    asked = {
        "equal_epsilons": floats("--epsilons", epsilons),
        "equal_delta": delta,
        "equal_items_per_person": items_per_person,
        "kinds": words(kinds),
    }
    return evaluate_utility("mechanisms", files, output, asked, on_what, how, common)
