"""Rankers against people's judgements: whether it would trouble a member to be found by a query.

A file of judgements (CSV, TSV, JSON lines or Parquet, compressed or not) has a row for each judge and item, with the
columns author_id, query, judge and relevance, and post_id where a certain post was in view. Relevance is a number from
0 on; yes and no are 1 and 0. The grade of an item is the mean over its judges times the usual number of judges: where
all items have as many, it is the sum, as in the thesis (three judges, yes or no, grades 0 to 3).

Each judged item is looked up in the member's exposure: the row of that query and, if the judges saw one, of that post,
otherwise the row where a post of hers stands highest. Items that do not return her among the first k are counted and
left out, as are members whose items all have one grade. Lists are the judged items alone, as in the thesis, where 50
queries of each user were judged.

Judged queries are few and chosen: what is measured holds for how they were chosen, and for these judges. Nothing here
says whether judges are right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.errors import InputError, ParameterError
from aidos.model.sensitivity import TopicalSensitivity
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.categories import Lexicon
from aidos.rooms.exposure.critical.features import MemberFeatures
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.senses import sensitivity_order
from aidos.rooms.exposure.critical.teaching import Rows
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures
from aidos.rooms.exposure.queries.store import ExposureStore
from aidos.studies.exposure.comparison import Graded, Scored, compare
from aidos.studies.exposure.study import SENSITIVITY, ExposureOutcome
from aidos.studies.judged import read_judged

__all__ = ["Judgements", "judged_experiment", "read_judgements"]

Floats = NDArray[np.float64]
MOST_WORDS = 2


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


def judged_experiment(
    store: ExposureStore,
    judgements: Judgements,
    models: Mapping[str, CriticalityModel],
    *,
    progress: Progress = SILENT,
) -> ExposureOutcome:
    """Measure models (the first is in question), the default order and every single feature against judgements."""
    if not models:
        raise ParameterError("no model is given", hint="give one that was trained, or the one that comes with aidos")
    rows, grades = _matched(store, judgements, progress)
    rankers = {name: Scored(kind="model", scores=model.score(rows.matrix)) for name, model in models.items()}
    rankers[SENSITIVITY] = Scored(kind="model", scores=sensitivity_order(store, rows.exposures))
    about = (
        f"{len(judgements)} queries of {len(set(judgements.author_ids))} members, judged by {judgements.judges} people."
    )
    graded = Graded(
        grades=grades,
        about=about,
        kappa=None if np.isnan(judgements.kappa) else judgements.kappa,
        unmatched=len(judgements) - len(rows),
    )
    return compare(rows, graded, rankers, progress=progress)


def _matched(store: ExposureStore, judgements: Judgements, progress: Progress) -> tuple[Rows, Floats]:
    """The rows of judged items that were found, member by member, and their grades."""
    analyser = Analyser.parse(store.settings.analyser)
    lexicon, sensitivity = Lexicon.default(), TopicalSensitivity.default(analyser=analyser)
    items: dict[str, list[int]] = defaultdict(list)
    for place, author in enumerate(judgements.author_ids):
        items[author].append(place)
    found: list[Exposures] = []
    matrices, grades = [], []
    with progress.task("looking judged queries up", total=len(items), unit="members") as task:
        for author, places in items.items():
            task.advance(1)
            held = _member(store, author)
            if held is None:
                continue
            matches = [_row(store, held, judgements, place, analyser) for place in places]
            kept = np.array([row for row in matches if row is not None], dtype=np.int64)
            if not len(kept):
                continue
            own = held.take(kept)
            features = MemberFeatures.of(store, own, lexicon=lexicon, sensitivity=sensitivity)
            found.append(own)
            matrices.append(features.matrix(own))
            grades.append(judgements.grades[[at for at, row in zip(places, matches, strict=True) if row is not None]])
    if not found:
        raise InputError(
            "none of the judged queries returns a post of its member", hint="check that author_id is as in the posts"
        )
    return _together(found, matrices, grades)


def _together(found: list[Exposures], matrices: list[Floats], grades: list[Floats]) -> tuple[Rows, Floats]:
    """All members' rows, by the number of the member."""
    order = np.argsort([int(own.members[0]) for own in found], kind="stable")
    exposures = Exposures.concatenate([found[at] for at in order])
    rows = Rows(exposures=exposures, matrix=np.concatenate([matrices[at] for at in order]))
    return rows, np.concatenate([grades[at] for at in order])


def _member(store: ExposureStore, author: str) -> Exposures | None:
    try:
        return store.member(store.member_number(author))
    except InputError:  # nobody of that name has posted
        return None


def _row(store: ExposureStore, held: Exposures, judgements: Judgements, place: int, analyser: Analyser) -> int | None:
    """Where the judged item stands among the member's rows."""
    terms = list(dict.fromkeys(analyser.terms(judgements.queries[place])))
    if not 1 <= len(terms) <= MOST_WORDS:
        return None
    numbers = sorted(int(number) for number in store.word_numbers(terms))
    if numbers[0] < 0:
        return None
    first, second = (numbers[0], NO_WORD) if len(numbers) == 1 else (numbers[0], numbers[1])
    rows = np.flatnonzero((held.first == first) & (held.second == second))
    if judgements.post_ids[place] and len(rows):
        ids = store.posts(held.posts[rows])["post_id"].to_pylist()
        rows = rows[[name == judgements.post_ids[place] for name in ids]]
    return int(rows[np.argmin(held.ranks[rows])]) if len(rows) else None
