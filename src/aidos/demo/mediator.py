"""The demo's chapter on mediator accounts: the sample log from shared accounts, by topic and as in the thesis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aidos.demo.chapter import Outcome, Workplace
from aidos.report.page import Callout, Chapter, Code, DataTable, Facts, Figure, Prose

if TYPE_CHECKING:
    from aidos.rooms.shield.mediator.page import Setting

__all__ = ["mediator_chapter"]

ALPHAS = (0.0, 0.3, 0.6, 1.0)
DEPTH = 2


def mediator_chapter(place: Workplace) -> Outcome:
    """Assign the log's queries at several chances of scattering and compare."""
    from aidos.core.guarantee import statement
    from aidos.core.noise import Noise
    from aidos.rooms.shield.mediator.accounts import MediatorAccounts
    from aidos.rooms.shield.mediator.queries import assess, read_queries

    queries = read_queries(place.engine.parquet(place.directory / "log.parquet"), None, DEPTH)
    usual = MediatorAccounts()
    mechanisms = [usual, *(MediatorAccounts(alpha=alpha, heuristic="original") for alpha in ALPHAS)]
    settings = [each.setting for each in assess(queries, mechanisms, Noise(), place.progress, ends=True)]
    people = queries.objects.people_count
    chapter = Chapter(
        title="Hiding among mediator accounts",
        blocks=(
            Prose(
                "A proxy issues each query from an account that many people share, chosen by what is asked and not by "
                "who asks. When the answer is delivered the proxy forgets who asked. Words may still name somebody: "
                "the table says how many queries are re-linked by who knows other texts of everybody."
            ),
            Facts((("people", people), ("queries", len(queries.texts)), ("topics", queries.topics))),
            _figure(settings),
            Callout("caution", statement(usual.promise)),
            Code(
                text="aidos mediate measure log.parquet\naidos mediate assign log.parquet -o mixed", language="command"
            ),
        ),
    )
    own, pools = (each.means["relinked"] for each in settings[:2])
    return Outcome(chapter, "mediator accounts", f"re-linked {own:.0%} before, {pools:.0%} with pools")


def _figure(settings: Sequence[Setting]) -> Figure:
    from aidos.rooms.shield.mediator.page import setting_rows, trade_chart

    columns, rows = setting_rows(settings)
    return Figure(
        chart=trade_chart(settings),
        caption="An account of one's own is re-linked most; with pools accounts say nothing that the words do not.",
        table=DataTable(caption="Every setting", columns=columns, rows=tuple(rows), numeric=columns[1:]),
    )
