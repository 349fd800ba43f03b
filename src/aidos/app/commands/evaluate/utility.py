"""`aidos evaluate utility`: every experiment on what a release is still good for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.console import Common
from aidos.app.reading import HowToRead
from aidos.app.utilityterms import OnWhat, evaluate_every_utility, words

__all__ = ["utility"]


def utility(
    files: Sequence[str] = (),
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    kinds: str = "",
    on_what: OnWhat | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """What a release of a log would still be good for: all experiments at once.

    Statistics, caching, substitution, retrieval and mechanisms with their usual
    grids, each in a directory of its own with its page, and a page over all.
    The log is prepared once. What a log does not allow is left out, with the
    reason. Each directory can be gone on with by the experiment's own command.

    For example:
        aidos evaluate utility --size 2000 -o results
        aidos evaluate utility log.tsv --documents pages.parquet -o results

    Parameters
    ----------
    files
        A search log of any known format; the sample world's unless given.
    output
        The directory for results: a page over all, and a directory for each experiment.
    kinds
        Kinds of items: keywords, queries, clicks, pairs; all that the log has unless given.
    """
    return evaluate_every_utility(files, output, {"kinds": words(kinds)}, on_what, how, common)
