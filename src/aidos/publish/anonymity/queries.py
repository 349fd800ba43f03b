"""k-query anonymity (Adar 2007): a query is published when k people asked it, under a new number for each visit.

What it does not promise: anything against somebody who asks the query herself from k - 1 accounts, or who knows k - 1
of those who asked. Visits of one person are not linked by number, but rare combinations within a visit remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.guarantee import Guarantee, KAnonymity
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.publish.actions import askings

__all__ = ["AnonymousLog", "KQueryAnonymity", "visit_number"]


@dataclass(frozen=True, slots=True)
class AnonymousLog:
    """Visits without names: a table of visit (a random number), place (1, 2, ... within it) and user_query."""

    table: Table
    """Lazy: it is computed when it is read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KQueryAnonymity:
    """Publish the log without names and without queries of fewer than k people (Adar 2007). A comparator."""

    k: Annotated[int, Ge(2)] = 10
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
