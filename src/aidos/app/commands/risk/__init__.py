"""`aidos risk`: where people rank when somebody looks for the vulnerable."""

from __future__ import annotations

from aidos.app.commands.risk.aggregate import audit, train
from aidos.app.commands.risk.change import add, forget
from aidos.app.commands.risk.judging import annotate, topics
from aidos.app.commands.risk.look import local, person
from aidos.app.commands.risk.rank import rank
from aidos.errors import ParameterError

__all__ = ["PARTS", "risk"]


def risk() -> int:
    """Find where people rank when somebody looks for the vulnerable, and tell each her own rank.

    For example:
        aidos risk local my-posts.txt
        aidos risk rank posts.parquet --topic depression -o ranks --i-am-the-operator
        aidos risk person ID --in ranks -o page.html
        aidos risk audit --in ranks -o audit.html
    """
    raise ParameterError(
        "what to do is missing: rank, person, add, forget, local, topics, annotate, train or audit",
        hint="see: aidos risk --help",
    )


PARTS = {
    "rank": rank,
    "person": person,
    "add": add,
    "forget": forget,
    "local": local,
    "topics": topics,
    "annotate": annotate,
    "train": train,
    "audit": audit,
}
