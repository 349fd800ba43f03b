"""k-keyword anonymity (He and Naughton 2009): keywords are cut to prefixes until k people have each.

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
from aidos.core.guarantee import Guarantee, KAnonymity
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.publish.histogram import PEOPLE, Histogram
from aidos.publish.items import KINDS, contributions

__all__ = ["KKeywordAnonymity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KKeywordAnonymity:
    """Publish how many people used each keyword, rare ones cut to prefixes (He and Naughton 2009). A comparator."""

    k: Annotated[int, Ge(2)] = 10
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
