"""`aidos evaluate substitution`: which suggestions a release still gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.console import Common
from aidos.app.reading import HowToRead
from aidos.app.utilityterms import OnWhat, evaluate_utility, floats, integers

__all__ = ["substitution"]


def substitution(
    files: Sequence[str] = (),
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    epsilons: str = "",
    ks: str = "",
    usual_epsilon: float | None = None,
    delta: float | None = None,
    suggested_queries: int | None = None,
    on_what: OnWhat | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Which suggestions a release still gives, against those of the log itself.

    Suggestions are learned from queries and pairs of queries, of the log, of
    k-anonymous and of ZEALOUS releases: precision, recall, MAP, NDCG and
    coverage of the best two and five (figures 7 and 8 of the paper). ZEALOUS
    publishes few pairs of a small log; where it suggests nothing, it is said
    from which size on it does. The figures need about 100,000 people (medium).

    For example:
        aidos evaluate substitution --size medium -o results
        aidos evaluate substitution log.tsv --epsilons 2,10 --ks 10,50 -o results

    Parameters
    ----------
    files
        A search log of any known format; the sample world's unless given.
    output
        The directory for results: a tidy table and a page.
    epsilons
        Strengths, with commas between; 1,2,5,10 unless given.
    ks
        People that a query needs, for k-anonymity; 5,10,20,50,100 unless given.
    usual_epsilon
        The strength that findings are read at; 5 unless given.
    delta
        Chance that the promise fails; 0.001 as in the paper unless given.
    suggested_queries
        The most frequent queries that suggestions are made for; 100,000 as in the paper unless given.
    """
    asked = {
        "epsilons": floats("--epsilons", epsilons),
        "ks": integers("--ks", ks),
        "usual_epsilon": usual_epsilon,
        "delta": delta,
        "suggested_queries": suggested_queries,
    }
    return evaluate_utility("substitution", files, output, asked, on_what, how, common)
