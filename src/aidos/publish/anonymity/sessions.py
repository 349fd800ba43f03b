"""k-session anonymity (Motwani and Nabar 2008): keywords are added and deleted until each visit equals k - 1 others.

To do so with the fewest changes is NP-hard. Here visits with the same keywords as k - 1 others stay as they are. The
rest are sorted by their keywords, the most frequent first, so that similar visits are neighbours, and cut into groups
of k; a group publishes the keywords that more than half of its visits have, which is the least change for the group.
Empty visits are left out.

What it does not promise: that the k visits are of k people, hence the unit of its guarantee; and nothing against
somebody who makes visits of her own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.guarantee import Guarantee, KAnonymity, Unit
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.publish.actions import askings
from aidos.publish.anonymity.queries import visit_number

__all__ = ["AnonymousVisits", "KSessionAnonymity"]


@dataclass(frozen=True, slots=True)
class AnonymousVisits:
    """Visits without names: a table of visit (a random number) and keywords (sorted, separated by blanks)."""

    table: Table
    """Lazy: it is computed when it is read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KSessionAnonymity:
    """Publish each visit's keywords, changed until k visits are alike (Motwani and Nabar 2008). A comparator."""

    k: Annotated[int, Ge(2)] = 10
    """Visits that have the same keywords, at least."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def guarantee(self, facts: PublicFacts) -> Guarantee:  # noqa: ARG002  (nothing public is needed)
        """k-anonymity of each visit, no more."""
        return KAnonymity(k=self.k, unit=Unit("visit", "session_id"))

    def run(self, data: Table, noise: Noise) -> AnonymousVisits:
        """The visits of a search log, k alike."""
        return AnonymousVisits(data.select(_visits(askings(data.columns), visit_number(noise), self.k)))


def _visits(asked: str, number: str, k: int) -> str:
    """Words by visit; visits by their words in order of frequency; groups; what most of a group's visits have."""
    return f"""
        with words as (
            select distinct {number} as visit, unnest(string_split(trim(user_query), ' ')) as word from ({asked})
        ),
        frequent as (select word, row_number() over (order by count(*) desc, word) as rank from words group by word),
        visits as (
            select visit, list(rank order by rank) as ranks from words join frequent using (word)
            where word <> '' group by visit
        ),
        alike as (select *, count(*) over (partition by ranks) >= {k} as stays from visits),
        sorted as (
            select visit, ranks, stays, count(*) over (partition by stays) as number,
                row_number() over (partition by stays order by ranks, visit) - 1 as place
            from alike
        ),
        grouped as (
            select visit, ranks, stays, least(place // {k}, number // {k} - 1) as grp from sorted
            where stays or number >= {k}
        ),
        common as (
            select grp, list(rank order by rank) as ranks
            from (
                select grp, rank, count(*) as have from (select grp, unnest(ranks) as rank from grouped where not stays)
                group by grp, rank
            )
            join (select grp, count(*) as size from grouped where not stays group by grp) using (grp)
            where 2 * have > size group by grp
        ),
        published as (
            select visit, ranks from grouped where stays
            union all
            select g.visit, c.ranks from grouped g join common c using (grp) where not g.stays
        )
        select visit, string_agg(word, ' ' order by word) as keywords
        from (select visit, unnest(ranks) as rank from published) join frequent using (rank)
        group by visit order by visit
    """
