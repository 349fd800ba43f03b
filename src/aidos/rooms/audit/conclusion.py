"""What an audit concludes, as a value: one of six answers, what keeps it from being told, and every test's p-value.

How it is reached: `aidos.rooms.audit.concluding`. How it is said: `aidos.rooms.audit.headline`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["GRANTS", "Conclusion", "Grant", "Kind", "Lack"]

Kind = Literal["topic", "not-topic", "place", "time", "nothing", "unknown"]
"""Personalised by topic; differs, but not by topic; differs by place; by time; nothing found; cannot be told."""
Grant = Literal["place", "order", "bucket"]
"""What may be taken on the person's word where lists do not say it."""
GRANTS: tuple[Grant, ...] = ("place", "order", "bucket")
Lack = Literal["place", "other-place", "order", "fixed-order", "runs", "bucket", "other-bucket", "again"]
"""What keeps lists from telling the account apart from something else: unknown, or known to be in the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What the tests say together."""

    kind: Kind
    p_value: float
    """How likely it is, at most, that lists with the account differ so far from those without by chance."""
    lacks: tuple[Lack, ...]
    """What keeps it from being told; empty where nothing does."""
    by_topic: float
    """The p-value of the test of topics alone."""
    by_lists: float | None
    """Of lists that differ in any way; None without a second list without an account."""
    beyond: float | None
    """Of moves that go along with topics rather than with ranks, queries or sites; None where nothing differs."""
    by_place: float | None
    """Of two lists without an account from two places; None where there are too few."""
    by_time: float | None
    """Of two lists without an account, one after the other."""
    granted: tuple[Grant, ...] = ()
    """What was taken on the person's word."""
