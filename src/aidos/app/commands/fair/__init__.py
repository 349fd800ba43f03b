"""`aidos fair`: re-rank so that attention over time follows relevance, and measure how far it does."""

from __future__ import annotations

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
    "rerank": "aidos.rooms.fairness.reranking:Rerank",
    "simulate": "aidos.rooms.fairness.comparing:SimulateRankings",
    "measure": "aidos.rooms.fairness.measuring:MeasureRankings",
    "store": "aidos.rooms.fairness.storing:ShowStore",
    "export": "aidos.rooms.fairness.storing:ExportAccounts",
    "import": "aidos.rooms.fairness.storing:ImportAccounts",
}
