"""`aidos fair`: re-rank so that attention over time follows relevance, and measure how far it does."""

from __future__ import annotations

from aidos.app.commands.fair.measure import measure
from aidos.app.commands.fair.rerank import rerank
from aidos.app.commands.fair.simulate import simulate
from aidos.app.commands.fair.store import export, import_table, store
from aidos.errors import ParameterError

__all__ = ["PARTS", "fair"]


def fair() -> int:
    """Share attention by relevance over time, and keep every single ranking good.

    For example:
        aidos fair rerank rankings.jsonl -o served.jsonl --store attention.store
        aidos fair simulate --shape linear --attention singular -o page.html
        aidos fair measure served.jsonl -o page.html
    """
    raise ParameterError(
        "what to do is missing: rerank, simulate, measure, store, export or import", hint="see: aidos fair --help"
    )


PARTS = {
    "rerank": rerank,
    "simulate": simulate,
    "measure": measure,
    "store": store,
    "export": export,
    "import": import_table,
}
