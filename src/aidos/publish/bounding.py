"""At most so many items of each person, chosen blindly.

Every guarantee here rests on this step: it is what bounds how far one person can move the counts. A person's items are
put in the order of ``md5(salt, person, item)`` and the first ones are kept. The choice depends on that person's own
items and the salt, on nobody else's; md5 is the same on every engine, where ``hash()`` is not; and the salt is drawn
for each release and never published, so that nobody can prepare items that will be kept.

Which md5 it is does not matter for privacy: any rule that looks at one person's items alone is sound, so md5 need not
be a strong hash. Equal digests are put in the order of the items themselves.
"""

from __future__ import annotations

from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.errors import ParameterError
from aidos.publish.items import PERSON, item_columns

__all__ = ["bounded", "bounded_with_sizes", "draw_salt", "people_in_order"]

SALT_BYTES = 16
DIGITS = 12
"""Of the digest: as many as the embedded engine sorts without looking elsewhere, and enough for one person's items."""


def draw_salt(noise: Noise) -> bytes:
    """A fresh salt."""
    return noise.bits.randbytes(SALT_BYTES)


def bounded(contributions: Table, limit: int, salt: bytes) -> Table:
    """The contributions with at most ``limit`` items of each person; nothing runs yet.

    Repeated rows are kept once and count once: the limit is on items, not on rows.
    """
    if limit < 1:
        raise ParameterError(f"the limit of items per person must be at least 1, got {limit}")
    items = [quote_name(name) for name in item_columns(contributions)]
    whole = f"md5('{salt.hex()}' || " + " || chr(31) || ".join([PERSON, *items]) + ")"
    digest = f"left({whole}, {DIGITS})"
    # Rows are equal in this order only if they are the same contribution; the first of those has its rank as number.
    return contributions.select(
        f"select {', '.join([PERSON, *items])} from {{table}} "
        f"window own as (partition by {PERSON} order by {', '.join([digest, *items])}) "
        f"qualify dense_rank() over own <= {limit} and row_number() over own = rank() over own"
    )


def bounded_with_sizes(contributions: Table, limit: int, salt: bytes) -> Table:
    """As `bounded`, with a column ``size``: how many items of that person were kept."""
    kept = bounded(contributions, limit, salt)
    return kept.select(f"select *, count(*) over (partition by {PERSON}) as size from {{table}}")


def people_in_order(salt: bytes) -> str:
    """SQL to sort by: an order of the people that the data do not decide; the items of one person stay together."""
    return f"md5('{salt.hex()}' || {PERSON}), {PERSON}"
