"""`aidos audit`: which profile a search service holds of an account."""

from __future__ import annotations

from aidos.errors import ParameterError

__all__ = ["PARTS", "audit"]


def audit() -> int:
    """Find out which profile a search service holds of you, from result lists that you saved.

    Ask the same searches with your account and without it, and save the
    lists. aidos fetches nothing.

    For example:
        aidos audit check pairs.jsonl
        aidos audit learn pairs.jsonl -o audit
        aidos audit learn pairs.jsonl -o audit --mark-sensitive profile.json
        aidos audit compare before after -o page.html
        aidos audit rehearse -o rehearsal
    """
    raise ParameterError(
        "what to do is missing: check, learn, evidence, compare or rehearse", hint="see: aidos audit --help"
    )


PARTS = {
    "check": "check:check",
    "learn": "learn:learn",
    "evidence": "evidence:evidence",
    "compare": "compare:compare",
    "rehearse": "rehearse:rehearse",
}
