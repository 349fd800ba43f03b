"""`aidos evaluate retrieval`: how well results are ranked from a released log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.console import Common
from aidos.app.reading import HowToRead
from aidos.app.utilityterms import OnWhat, evaluate_utility, floats, integers

__all__ = ["retrieval"]


def retrieval(
    files: Sequence[str] = (),
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    noise_scales: str = "",
    thresholds: str = "",
    usual_noise: float | None = None,
    usual_threshold: int | None = None,
    pool_limit: int | None = None,
    folds: int | None = None,
    tried_queries: int | None = None,
    on_what: OnWhat | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """How well results are ranked from a released log, before and after.

    A random walk over queries, clicks and transitions, and implicit feedback,
    learned from the log and from pool releases of it, tried on people who were
    held out: nDCG@10, P@5, P@10 and MAP with paired t-tests, and the sweep over
    noise and threshold (tables 4 and 5, figure 1 of the paper). The release as
    published has no guarantee; the strict one takes public phrases and results
    from the documents.

    What is not given is the paper's, scaled to the log: b and K by its queries
    against the 21,011,340 of the paper's log (at least by 0.01), q_f by the
    queries of a person against its 32.

    For example:
        aidos evaluate retrieval -o results
        aidos evaluate retrieval log.tsv --noise-scales 10,100 --thresholds 50,500 -o results

    Parameters
    ----------
    files
        A search log with clicks, of any known format; the sample world's unless given.
    output
        The directory for results: a tidy table and a page.
    noise_scales
        Noise of the pool release (b), with commas between; 10,50,100,500 scaled to the log unless given.
    thresholds
        Counts that queries need (K); 10,100,500 scaled to the log unless given.
    usual_noise
        The noise of the tables; the paper's 10 scaled to the log unless given.
    usual_threshold
        The threshold of the tables; the paper's 500 scaled to the log unless given.
    pool_limit
        Queries, clicks and transitions of each person that count (q_f); 100 scaled to the log unless given.
    folds
        Parts that the people are divided into; 5 unless given.
    tried_queries
        Queries that are tried in each fold, at most; 1,000 unless given.
    """
    asked = {
        "noise_scales": floats("--noise-scales", noise_scales),
        "thresholds": integers("--thresholds", thresholds),
        "usual_noise": usual_noise,
        "usual_threshold": usual_threshold,
        "pool_limit": pool_limit,
        "folds": folds,
        "tried_queries": tried_queries,
    }
    return evaluate_utility("retrieval", files, output, asked, on_what, how, common)
