"""People's judgements of exposing queries: whether it would trouble a member to be found by one.

A file of judgements (CSV, TSV, JSON lines or Parquet, compressed or not) has a row for each judge and item, with the
columns author_id, query, judge and relevance, and post_id where a certain post was in view. Relevance is a number from
0 on; yes and no are 1 and 0. An item is what several judges were asked: member, query and, if given, post.

The grade of an item is the mean over its judges times the usual number of judges: where all items have as many, it is
the sum, as in the thesis (three judges, yes or no, grades 0 to 3). Agreement is Fleiss' kappa over the values that
judges gave. A file of one judge has no kappa; nothing here says whether judges are right.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aidos.studies.judged import read_judged

__all__ = ["Judgements", "read_judgements"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgements:
    """Items in the order of the file, and what judges said about each."""

    author_ids: tuple[str, ...]
    queries: tuple[str, ...]
    """As they are written, with single blanks and in small letters."""
    post_ids: tuple[str, ...]
    """The post in view; empty where none was."""
    means: Floats = field(repr=False)
    """Mean relevance over the judges of the item."""
    judged: NDArray[np.int64] = field(repr=False)
    """How many judges each item had."""
    kappa: float
    """Agreement of the judges (Fleiss); not a number where no item has two, or all always say the same."""
    judges: int
    """How many different judges there are."""

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def usual(self) -> int:
        """The number of judges that most items have; the larger one where two are equally usual."""
        times = np.bincount(self.judged)
        return int(len(times) - 1 - np.argmax(times[::-1]))

    @property
    def grades(self) -> Floats:
        """The grade of each item: its mean times the usual number of judges."""
        scaled: Floats = self.means * self.usual
        return scaled


def read_judgements(path: str) -> Judgements:
    """Read files of judgements (a name or a pattern); InputError with all problems that they have."""
    found = read_judged(path, ("author_id", "query"), optional=("post_id",), folded=("query",))
    authors, queries, posts = zip(*found.items, strict=True)
    return Judgements(
        author_ids=authors,
        queries=queries,
        post_ids=posts,
        means=found.means,
        judged=found.judged,
        kappa=found.kappa,
        judges=found.judges,
    )
