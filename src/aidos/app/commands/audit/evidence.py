"""`aidos audit evidence`: searches of an audit, both lists side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aidos.app.console import Common, show, show_json, tell
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.report.values import Value
    from aidos.rooms.audit.findings import AuditFinding

__all__ = ["evidence"]


def evidence(directory: Path, /, *, query: int | None = None, common: Common | None = None) -> int:
    """Show searches that speak for the profile: what moved where, because of which topic.

    Without a number it lists the searches that were kept, the clearest first.
    This shows searches: it is for the owner of the account.

    For example:
        aidos audit evidence audit
        aidos audit evidence audit --query 1

    Parameters
    ----------
    directory
        The directory of an audit, or its finding.json.
    query
        The number of a search, counted from 1: both its lists are shown.
    """
    from dataclasses import asdict

    from aidos.app.audit.directory import read_finding

    common = common or Common()
    finding = read_finding(directory)
    kept = finding.evidence
    if query is not None and not 1 <= query <= len(kept):
        raise ParameterError(f"--query must be from 1 to {len(kept)}, got {query}" if kept else "no search was kept")
    if common.json:
        show_json({"evidence": [asdict(each) for each in (kept if query is None else kept[query - 1 : query])]})
    elif query is None:
        _list(finding)
    else:
        _show(finding, query)
    if not finding.detected:
        tell("no personalisation was detected: these lists may differ by chance", quiet=common.quiet)
    return 0


def _list(finding: AuditFinding) -> None:
    from aidos.report.terminal import rows_table

    rows: list[tuple[Value, ...]] = []
    for number, each in enumerate(finding.evidence, start=1):
        named = list(dict.fromkeys(one.reason.topic.name for one in each.results if one.reason is not None))
        rows.append((number, each.query, f"{each.switch:.0%}", ", ".join(named[:3])))
    show(rows_table(("number", "search", "personalised", "topics"), rows))


def _show(finding: AuditFinding, query: int) -> None:
    from rich.text import Text

    from aidos.report.terminal import rows_table
    from aidos.report.values import show as plain
    from aidos.rooms.audit.wording import move_words

    watched = finding.evidence[query - 1]
    lifted = {each.topic.id for each in finding.topics if each.is_lifted}
    rows: list[tuple[Value, ...]] = [
        (each.personalised_rank, each.vanilla_rank, each.title or each.address, move_words(each, lifted))
        for each in watched.results
    ]
    show(Text(plain(watched.query), style="bold"))
    show(rows_table(("with account", "without", "result", "what happened"), rows))
