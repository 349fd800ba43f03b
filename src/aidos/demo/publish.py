"""The demo's chapter on publishing: a release of the sample log, and the attack that k-anonymity falls to."""

from __future__ import annotations

import shutil

from aidos.account.budget import Budget
from aidos.account.opening import open_ledger
from aidos.account.witness import registry_in
from aidos.core.guarantee import statement
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.demo.chapter import Outcome, Workplace
from aidos.jobs.recipe import Recipe
from aidos.report.page import Callout, Chapter, Code, DataTable, Facts, Prose
from aidos.rooms.publish.directory import PublishedLog
from aidos.rooms.publish.histogram import Histogram
from aidos.rooms.publish.jobs.publish import publish_table
from aidos.rooms.publish.sources import data_set

__all__ = ["publish_chapter"]

EPSILON, DELTA = 4.0, 1e-6
ROWS_SHOWN = 10


def publish_chapter(place: Workplace) -> Outcome:
    """Open a ledger, release queries and clicks, and show what came out."""
    made = _release(place)
    counts = tuple((kind, len(histogram)) for kind, histogram in made.value.items())
    chapter = Chapter(
        title="Publishing a search log",
        source=made,
        blocks=(
            Prose(
                "What many people have in common may be known; what one person did may not. The release holds queries "
                "and clicks that enough people share, with noisy numbers of people. The ledger was charged before the "
                "data were used, and refuses the release that would go beyond the budget."
            ),
            Facts(counts),
            _table(made.value["queries"]),
            Callout(
                "promise",
                f"{statement(made.guarantee)} Dropping rare queries alone (k-anonymity) promises nothing of the kind: "
                "an attacker who adds accounts of her own finds out whether a person asked a query she can guess.",
            ),
            Code(
                text="aidos ledger open log.parquet --epsilon 4 --delta 1e-6 -o log.ledger\n"
                "aidos publish log.parquet --items queries,clicks --epsilon 4 --ledger log.ledger -o release\n"
                "aidos verify release",
                language="command",
            ),
            Code(text="aidos attack sybil", language="command"),
        ),
    )
    return Outcome(chapter, "publish", ", ".join(f"{count} {kind} released" for kind, count in counts))


def _release(place: Workplace) -> PublishedLog:
    log, ledger, target = (place.directory / name for name in ("log.parquet", "log.ledger", "release"))
    shutil.rmtree(target, ignore_errors=True)
    ledger.unlink(missing_ok=True)
    budget = Budget(epsilon=EPSILON, delta=DELTA)
    parameters = {"epsilon": EPSILON, "delta": DELTA, "items_per_person": 20}
    recipe = Recipe(items=("queries", "clicks"), parameters=parameters)
    table = place.engine.parquet(log)
    with registry_in(place.directory / "registry"):
        opened = open_ledger(ledger, budget, data_set([str(log)]))
        return publish_table(recipe, table, target, ledger=opened, noise=Noise(), facts=PublicFacts())


def _table(histogram: Histogram) -> DataTable:
    shown = histogram.table.slice(0, ROWS_SHOWN)
    rows = tuple(zip(*(column.to_pylist() for column in shown.columns), strict=True))
    return DataTable(caption="The most frequent queries released", columns=("query", "people (noisy)"), rows=rows)
