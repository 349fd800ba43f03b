"""`aidos evaluate statistics`: how far published counts are from true ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.console import Common
from aidos.app.reading import HowToRead
from aidos.app.utilityterms import OnWhat, evaluate_utility, floats, integers, words

__all__ = ["statistics"]


def statistics(
    files: Sequence[str] = (),
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    epsilons: str = "",
    items_per_person: str = "",
    ks: str = "",
    usual_epsilon: float | None = None,
    delta: float | None = None,
    kinds: str = "",
    on_what: OnWhat | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """How far published counts are from true ones, by strength and by limit.

    ZEALOUS and k-query anonymity over keywords, queries, clicks and pairs of a
    log: distinct and total counts, coverage and precision of the most frequent
    items, count distributions, average differences (tables 3 and 4, figures 2
    to 5 of the paper). Without a log the sample world is made. Releases are
    simulated with a seed, results are findings. What is done is kept in the
    directory and not done again.

    For example:
        aidos evaluate statistics -o results
        aidos evaluate statistics log.tsv --kinds queries,pairs -o results
        aidos evaluate statistics log.tsv --epsilons 1,10 --items-per-person 1,5,25 -o results

    Parameters
    ----------
    files
        A search log of any known format; the sample world's unless given.
    output
        The directory for results: a tidy table and a page.
    epsilons
        Strengths at one item of each person, with commas between; 1,2,5,10 unless given.
    items_per_person
        Limits on items of each person (m); 1,4,8,20,40,80,160 unless given.
    ks
        People that a query needs, for k-anonymity; 5,10,20,50,100 unless given.
    usual_epsilon
        The strength at which limits are varied; 5 unless given.
    delta
        Chance that the promise fails; 0.001 as in the paper unless given.
    kinds
        Kinds of items: keywords, queries, clicks, pairs; all that the log has unless given.
    """
    asked = {
        "epsilons": floats("--epsilons", epsilons),
        "items_per_person": integers("--items-per-person", items_per_person),
        "ks": integers("--ks", ks),
        "usual_epsilon": usual_epsilon,
        "delta": delta,
        "kinds": words(kinds),
    }
    return evaluate_utility("statistics", files, output, asked, on_what, how, common)
