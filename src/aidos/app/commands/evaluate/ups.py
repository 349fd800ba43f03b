"""`aidos evaluate ups`: what profile generalisation costs, keeps, hides and gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, show, show_json, tell

if TYPE_CHECKING:
    from aidos.studies.ups.outcome import Outcome

__all__ = ["ups"]


def ups(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    part: Sequence[str] = (),
    taxonomy: Path | None = None,
    size: str = "small",
    seed: int = 7,
    common: Common | None = None,
) -> int:
    """What profile generalisation costs, keeps, hides and gives.

    Five parts: speed (iterations and time by the size of seeds and
    taxonomies), limits (power and risk by the limit of risk), quality (beside
    the best there is), eavesdropper (what is guessed from one query and from
    a month of them, with and without the session's memory), reranking (lists
    of results where it is known what was wanted). On random trees, a taxonomy
    and people of the sample world. What is done is kept in the directory and
    not done again; parts may be added later.

    For example:
        aidos evaluate ups -o results
        aidos evaluate ups --size tiny --part quality --part reranking -o results
        aidos evaluate ups --taxonomy wordnet.taxonomy --part speed -o results --json

    Parameters
    ----------
    output
        The directory for results: tables and a page.
    part
        A part to run; may be repeated; all unless given.
    taxonomy
        A file with a taxonomy; the one that comes with aidos unless given.
    size
        The size of the sample world: tiny, small or a number of people; small unless given.
    seed
        Of the world, and of everything that is drawn; 7 unless given.
    """
    from aidos.app.upsstudy import Asking, run_ups, write_ups

    common = common or Common()
    asked = Asking(size=size, seed=seed, taxonomy=taxonomy, parts=tuple(part))
    outcome, remark = run_ups(asked, output, progress=TerminalProgress(quiet=common.quiet))
    if remark:
        tell(remark, quiet=common.quiet)
    write_ups(output, outcome, command=asked.command(output))
    return _tell(outcome, output, common)


def _tell(outcome: Outcome, output: Path, common: Common) -> int:
    from dataclasses import asdict

    from aidos.report.terminal import rows_table
    from aidos.studies.ups.claims import read_claims
    from aidos.studies.ups.page import CLAIM_COLUMNS, claim_rows

    if common.json:
        claims = [asdict(claim) for claim in read_claims(outcome)]
        show_json({"output": str(output), **outcome.to_json(), "claims": claims})
        return 0
    show(rows_table(CLAIM_COLUMNS, claim_rows(outcome), title=outcome.facts.about))
    tell(f"{output / 'report.html'} has every table and chart", quiet=common.quiet)
    return 0
