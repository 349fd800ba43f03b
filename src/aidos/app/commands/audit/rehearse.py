"""`aidos audit rehearse`: audit, mark, shield and audit again, in the sample world."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.audit.terms import AuditTerms
from aidos.app.commands.audit.compare import show_comparison
from aidos.app.console import Common, TerminalProgress, remark_if_slow, show, show_json, tell
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.app.audit.rehearsal import LoopStory

__all__ = ["rehearse"]

LEAST_QUERIES = 20


def rehearse(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    size: str = "tiny",
    seed: int = 7,
    account: int | None = None,
    queries: int = 300,
    draws: int | None = None,
    common: Common | None = None,
) -> int:
    """Rehearse the whole loop on a made-up account: audit, mark, shield, audit again.

    Nothing is asked of anybody: the service, the account and its searches are
    of the sample world, so that the truth is known. The directory holds both
    audits with their pages, the pairs of lists, the marked profile, and a page
    that compares.

    For example:
        aidos audit rehearse -o rehearsal
        aidos audit rehearse -o rehearsal --size small --account 3 --queries 500

    Parameters
    ----------
    output
        The directory to write.
    size
        The size of the sample world: tiny, small, medium, or a number of people; tiny unless given.
    seed
        Another seed is another world; 7 unless given.
    account
        The number of the account, from 0 on; the first with something to hide unless given.
    queries
        How many searches are asked each time; 300 unless given.
    draws
        How often the searches are drawn again for the intervals; 100 unless given.
    """
    common = common or Common()
    if queries < LEAST_QUERIES:
        raise ParameterError(f"--queries must be at least {LEAST_QUERIES}, got {queries}")
    from aidos.app.audit.directory import refuse_taken
    from aidos.app.audit.rehearsal import keep_rehearsal, rehearse_loop
    from aidos.world.size import World

    audit = AuditTerms(draws=draws).mechanism()
    refuse_taken(output)
    world = World(size=size, seed=seed)
    with remark_if_slow("audit, shield, audit; the first run also compiles", quiet=common.quiet):
        progress = TerminalProgress(quiet=common.quiet)
        done = replace(rehearse_loop(world, account, queries=queries, progress=progress, audit=audit), output=output)
    keep_rehearsal(done)
    return _tell(done, common)


def _tell(done: LoopStory, common: Common) -> int:
    from rich.text import Text

    from aidos.app.audit.comparing import comparison_facts
    from aidos.app.audit.learning import finding_facts
    from aidos.rooms.audit.wording import verdict_words

    outcome = done.outcome
    if common.json:
        findings = {"before": finding_facts(outcome.before), "after": finding_facts(outcome.after)}
        show_json({**done.facts(), **findings, "comparison": comparison_facts(done.story), "output": str(done.output)})
        return 0
    happened = done.happened()
    show(Text(f"1. before: {verdict_words(outcome.before)}"))
    show(Text(f"   {happened[0]}"))
    show(Text(f"2. {happened[1]}"))
    show(Text(f"3. {happened[2]}"))
    show(Text(f"4. after: {verdict_words(outcome.after)}"))
    show("")
    show_comparison(done.story)
    tell(f"{done.output} has both audits, the pairs and the profile", quiet=common.quiet)
    show(str(done.output / "comparison.html"))
    return 0
