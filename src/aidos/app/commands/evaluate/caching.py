"""`aidos evaluate caching`: which hits a cache of posting lists gets when a release fills it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.console import Common
from aidos.app.reading import HowToRead
from aidos.app.utilityterms import OnWhat, evaluate_utility, floats, integers

__all__ = ["caching"]


def caching(
    files: Sequence[str] = (),
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    epsilons: str = "",
    items_per_person: str = "",
    ks: str = "",
    usual_epsilon: float | None = None,
    cache_items: int | None = None,
    cache_bytes: int | None = None,
    on_what: OnWhat | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Which hits a cache of posting lists gets when a release fills it.

    Lists are chosen by how many people have a keyword, in the log, in
    k-anonymous and in ZEALOUS releases and in those of every other mechanism,
    divided by the documents that have it; hits are counted under the log's own
    searches (figure 6 of the paper). Where the whole index would fit into the
    memory, a tenth of it is taken.

    For example:
        aidos evaluate caching -o results
        aidos evaluate caching log.tsv --documents pages.parquet -o results
        aidos evaluate caching log.tsv --documents texts --cache-bytes 100000000 -o results

    Parameters
    ----------
    files
        A search log of any known format; the sample world's unless given.
    output
        The directory for results: a tidy table and a page.
    epsilons
        Strengths, with commas between; 1,2,5,10 unless given.
    items_per_person
        Limits on keywords of each person (m); 1,4,8,20,40,80,160 unless given.
    ks
        People that a query needs, for k-anonymity; 5,10,20,50,100 unless given.
    usual_epsilon
        The strength at which limits are varied; 5 unless given.
    cache_items
        The limit at which strengths are varied; 6 as in the paper unless given.
    cache_bytes
        Memory for posting lists; 1 GB as in the paper unless given.
    """
    asked = {
        "epsilons": floats("--epsilons", epsilons),
        "items_per_person": integers("--items-per-person", items_per_person),
        "ks": integers("--ks", ks),
        "usual_epsilon": usual_epsilon,
        "cache_items": cache_items,
        "cache_bytes": cache_bytes,
    }
    return evaluate_utility("caching", files, output, asked, on_what, how, common)
