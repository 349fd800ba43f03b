"""`aidos evaluate audit`: what the audit of hidden profiles finds, misses and falsely alarms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, show, show_json, tell

if TYPE_CHECKING:
    from aidos.studies.audit.outcome import Outcome

__all__ = ["audit"]


def audit(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    part: Sequence[str] = (),
    size: str = "small",
    seed: int = 7,
    common: Common | None = None,
) -> int:
    """What the audit of hidden profiles finds, misses and falsely alarms.

    Nine parts: recovery (lists drawn from the model), topics (which topics of
    a profile are found, beside simple measures), disambiguation (which of two
    lists is personalised), users (whose it is), time (the two ways to learn),
    alarms (lists without a profile), power (weak profiles), world (accounts
    of the sample world), loop (audit, mark, shield, audit again). The paper's
    numbers stand beside. What is done is kept in the directory and not done
    again; parts may be added later.

    For example:
        aidos evaluate audit -o results
        aidos evaluate audit --size tiny --part topics --part loop -o results
        aidos evaluate audit --part alarms -o results --json

    Parameters
    ----------
    output
        The directory for results: tables and a page.
    part
        A part to run; may be repeated; all unless given.
    size
        The size of the sample world: tiny (less of everything is tried then), small or a number of people.
    seed
        Of the world, and of everything that is drawn; 7 unless given.
    """
    from aidos.app.auditstudy import Asking, run_audit_study, write_audit_study

    common = common or Common()
    asked = Asking(size=size, seed=seed, parts=tuple(part))
    outcome = run_audit_study(asked, output, progress=TerminalProgress(quiet=common.quiet))
    write_audit_study(output, outcome, command=asked.command(output))
    return _tell(outcome, output, common)


def _tell(outcome: Outcome, output: Path, common: Common) -> int:
    from dataclasses import asdict

    from aidos.report.terminal import rows_table
    from aidos.studies.audit.claims import read_claims
    from aidos.studies.audit.page import CLAIM_COLUMNS, claim_rows

    if common.json:
        claims = [asdict(claim) for claim in read_claims(outcome)]
        show_json({"output": str(output), **outcome.to_json(), "claims": claims})
        return 0
    show(rows_table(CLAIM_COLUMNS, claim_rows(outcome), title=outcome.facts.about))
    tell(f"{output / 'report.html'} has every table and chart", quiet=common.quiet)
    return 0
