"""k-anonymity for search logs, in the three forms that were proposed for them: to compare with, not to use.

Each hides who searched among k, and each falls to an attacker who makes k accounts of her own: see
`aidos.rooms.publish.attacks.sybil`. aidos has them so that the difference can be measured. They add no noise, they
bound nobody's contribution, and nothing about them composes.

k-query anonymity (Adar 2007): a query is published when k people asked it, under a new number for each visit.

What it does not promise: anything against somebody who asks the query herself from k - 1 accounts, or who knows k - 1
of those who asked. Visits of one person are not linked by number, but rare combinations within a visit remain.

k-session anonymity (Motwani and Nabar 2008): keywords are added and deleted until each visit equals k - 1 others.

To do so with the fewest changes is NP-hard. Here visits with the same keywords as k - 1 others stay as they are. The
rest are sorted by their keywords, the most frequent first, so that similar visits are neighbours, and cut into groups
of k; a group publishes the keywords that more than half of its visits have, which is the least change for the group.
Empty visits are left out.

What it does not promise: that the k visits are of k people, hence the unit of its guarantee; and nothing against
somebody who makes visits of her own.

k-keyword anonymity (He and Naughton 2009): keywords are cut to prefixes until k people have each.

A keyword that k people used is published as it is. Any other loses its last letter and is pooled with whatever is cut
to the same prefix, again and again; ``card*`` stands for rare words that begin with card. The histogram of what results
is published. Generalisation is local: a prefix stands for the rare words below it, not for the frequent ones.

What it does not promise: anything against somebody who uses a guessed keyword from k - 1 accounts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated

import pyarrow as pa
from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.guarantee import Guarantee, KAnonymity, Unit
from aidos.core.limits import CROWD
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.rooms.publish.histogram import PEOPLE, Histogram
from aidos.rooms.publish.items import KINDS, askings, contributions

__all__ = [
    "AnonymousLog",
    "AnonymousVisits",
    "KKeywordAnonymity",
    "KQueryAnonymity",
    "KSessionAnonymity",
    "visit_number",
]


@dataclass(frozen=True, slots=True)
class AnonymousLog:
    """Visits without names: a table of visit (a random number), place (1, 2, ... within it) and user_query."""

    table: Table
    """Lazy: it is computed when it is read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KQueryAnonymity:
    """Publish the log without names and without queries of fewer than k people (Adar 2007). A comparator."""

    k: Annotated[int, Ge(2), CROWD] = 10
    """Queries of fewer people are dropped."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def guarantee(self, facts: PublicFacts) -> Guarantee:  # noqa: ARG002  (nothing public is needed)
        """k-anonymity of each query, no more."""
        return KAnonymity(k=self.k)

    def run(self, data: Table, noise: Noise) -> AnonymousLog:
        """The visits of a search log, with the queries that k people asked."""
        return AnonymousLog(
            data.select(f"""
                with asked as ({askings(data.columns)})
                select {visit_number(noise)} as visit, user_query,
                    row_number() over (partition by client_id, visit order by place) as place
                from asked
                where user_query in (
                    select user_query from asked group by user_query having count(distinct client_id) >= {self.k}
                )
                order by all
            """)
        )


def visit_number(noise: Noise) -> str:
    """SQL: a number for (client_id, visit) that nobody can trace without the salt, drawn here and forgotten."""
    salt = f"{noise.bits.getrandbits(128):032x}"
    return f"substr(md5('{salt}' || client_id || chr(31) || cast(visit as varchar)), 1, 16)"


@dataclass(frozen=True, slots=True)
class AnonymousVisits:
    """Visits without names: a table of visit (a random number) and keywords (sorted, separated by blanks)."""

    table: Table
    """Lazy: it is computed when it is read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KSessionAnonymity:
    """Publish each visit's keywords, changed until k visits are alike (Motwani and Nabar 2008). A comparator."""

    k: Annotated[int, Ge(2), CROWD] = 10
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KKeywordAnonymity:
    """Publish how many people used each keyword, rare ones cut to prefixes (He and Naughton 2009). A comparator."""

    k: Annotated[int, Ge(2), CROWD] = 10
    """People who have each published keyword or prefix, at least."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def guarantee(self, facts: PublicFacts) -> Guarantee:  # noqa: ARG002  (nothing public is needed)
        """k-anonymity of each keyword, no more."""
        return KAnonymity(k=self.k)

    def run(self, data: Table, noise: Noise) -> Histogram:  # noqa: ARG002  (nothing random is done)
        """The keywords of a search log and how many people have them, exactly."""
        with contributions(data, KINDS["keywords"]).held(label="counting people") as words:
            found = sorted(_generalised(words, self.k), key=lambda one: (-one[1], one[0]))
        columns = {
            "keyword": pa.array([form for form, _ in found], pa.string()),
            PEOPLE: pa.array([people for _, people in found], pa.int64()),
        }
        return Histogram(columns=("keyword",), table=pa.table(columns), has_counts=True)


def _generalised(words: Table, k: int) -> Iterator[tuple[str, int]]:
    """Forms that k people have, from the longest words down; the rest of each length joins the next shorter one."""
    longest = int(str(words.rows("select coalesce(max(length(keyword)), 0) from {table}")[0][0]))
    with ExitStack() as stack:
        # What was cut to this length. It is never pooled with a whole word that reads the same.
        cut = stack.enter_context(words.select("select person, keyword as form from {table} where false").held())
        for length in range(longest, -1, -1):
            forms = stack.enter_context(
                words.select(f"""
                    select person, keyword as form, '' as ending from {{table}} where length(keyword) = {length}
                    union all select person, form, '*' from {cut.name}
                """).held()
            )
            counted = "select form, ending, count(*) as people from {table} group by form, ending"
            for form, ending, people in forms.rows(f"{counted} having people >= {k} order by form, ending"):
                yield f"{form}{ending}", int(str(people))
            rest = f"select distinct person, left(form, {length} - 1) as form from {{table}} join ({counted}) c"
            cut = stack.enter_context(
                forms.select(f"{rest} using (form, ending) where c.people < {k} and {length} > 0").held()
            )
