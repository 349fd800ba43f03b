"""Upper limits of whole numbers that somebody asks for, declared once.

Each is far above what anybody has, and low enough to count with: a slip of the finger is told at once, instead of
an overflow or a run without an end. Where less makes sense, a field has its own.
"""

from __future__ import annotations

from annotated_types import Ge, Le

__all__ = ["CROWD", "FEWEST", "ITEMS", "LEVELS", "LONG_SEED", "ROUNDS", "ROWS", "SEED", "SHOWN"]

SEED = Le(2**32 - 1)
"""Of a seed: what every generator of the packages takes."""
LONG_SEED = Le(2**63 - 1)
"""Of a seed that no package sees."""
CROWD = Le(10**10)
"""People, accounts and what people have in common: more than there are."""
FEWEST = Ge(10)
"""Of the people that a told number may be about: one about fewer points at somebody."""
ROWS = Le(10**12)
"""Rows, bytes, and counts of what is in them."""
ITEMS = Le(10**6)
"""What one person contributes."""
SHOWN = Le(10**6)
"""What is shown of a list."""
LEVELS = Le(1_000)
"""Of a tree."""
ROUNDS = Le(10**6)
"""Of work that is repeated."""
