"""The demo's chapter on mediator accounts: the sample log issued from shared accounts, two ways."""

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
    from aidos.rooms.shield.mediator.mixing import assess, read_queries

    queries = read_queries(place.engine.parquet(place.directory / "log.parquet"), None, DEPTH)
    mechanisms = [MediatorAccounts(alpha=alpha, heuristic=name) for name in ("original", "commons") for alpha in ALPHAS]
    settings = [each.setting for each in assess(queries.objects, mechanisms, Noise(), place.progress)]
    people = queries.objects.people_count
    chapter = Chapter(
        title="Hiding among mediator accounts",
        blocks=(
            Prose(
                "A proxy issues each query from one of many accounts that people share. No account looks like a person "
                "and each query still lands where similar ones are, so that personalisation works. When the answer is "
                "delivered the proxy forgets who asked."
            ),
            Facts((("people", people), ("queries", len(queries.texts)), ("topics", queries.topics))),
            _figure(settings),
            Callout("caution", statement(mechanisms[0].promise)),
            Code(
                text="aidos mediate measure log.parquet\naidos mediate assign log.parquet -o mixed", language="command"
            ),
        ),
    )
    low, high = (settings[each].means["entropy"] for each in (0, len(ALPHAS) - 1))
    return Outcome(chapter, "mediator accounts", f"entropy {low:.2f} to {high:.2f}")


def _figure(settings: Sequence[Setting]) -> Figure:
    from aidos.report.charts import line
    from aidos.rooms.shield.mediator.page import setting_rows

    columns, rows = setting_rows(settings)
    series: dict[str, list[tuple[float, float]]] = {}
    for each in settings:
        series.setdefault(each.heuristic, []).append((each.means["entropy"], each.means["coherence_loss"]))
    return Figure(
        chart=line("Privacy and utility", series, x_title="entropy (privacy)", y_title="coherence loss"),
        caption="More scattering is more entropy and less coherence; accounts set aside for what is scattered "
        "(commons) lose less coherence at the same entropy.",
        table=DataTable(caption="Every setting", columns=columns, rows=tuple(rows), numeric=columns[1:]),
    )
