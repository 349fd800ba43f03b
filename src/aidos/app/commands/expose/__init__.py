"""`aidos expose`: by which queries the members of a community are found, and how much that hurts."""

from __future__ import annotations

from aidos.errors import ParameterError

__all__ = ["PARTS", "expose"]


def expose() -> int:
    """Find every query that exposes a member of a community, the most critical first.

    For example:
        aidos expose compute posts.parquet -o exposure
        aidos expose member ID --in exposure -o page.html
        aidos expose draft "a post before it is posted" --as ID --in exposure
        aidos expose audit --in exposure -o audit.html
    """
    raise ParameterError(
        "what to do is missing: compute, member, query, draft, add, delete, audit or train",
        hint="see: aidos expose --help",
    )


PARTS = {
    "compute": "compute:compute",
    "member": "look:member",
    "query": "look:query",
    "draft": "look:draft",
    "add": "change:add",
    "delete": "change:delete",
    "audit": "aggregate:audit",
    "train": "aggregate:train",
}
