"""From what a person read, kept and searched for to her profile: each document goes to the topic that it is most about.

Documents are mapped by retrieval, a block at a time, so that a long history takes no more memory than a short one; what
stays is how many documents there are at each topic, and nothing of their text. A document with no word that a topic
knows has no topic and is counted apart. A single document may well be mapped wrongly: with ``least`` topics that few
documents are at hand them to the topic above, which is right more often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aidos.core.profile import BuiltProfile
from aidos.core.progress import SILENT, Progress
from aidos.core.taxonomy import Profile
from aidos.errors import InputError, ParameterError
from aidos.ingest.history.document import Document

if TYPE_CHECKING:
    from aidos.core.topictree import TopicTree
    from aidos.model.topicsearch import TopicSearch

__all__ = ["build_profile"]

Counts = NDArray[np.int64]

BLOCK = 4_096
"""Documents that are mapped at once."""
CHARACTERS = 2_000
"""Of a document that are looked at: more words hardly change the best topic, and each takes time."""


def build_profile(
    documents: Iterable[Document], search: TopicSearch, *, least: int = 1, progress: Progress = SILENT
) -> BuiltProfile:
    """The profile of the documents; topics with fewer than ``least`` hand theirs to the topic above.

    Raises InputError where not one document is about a topic: then there is no profile.
    """
    if least < 1:
        raise ParameterError(f"a topic needs at least 1 document, got {least}")
    tree = search.tree
    counts: Counts = np.zeros(len(tree), dtype=np.int64)
    sources: Counter[str] = Counter()
    unmapped = 0
    stream = iter(documents)
    with progress.task("finding topics", total=None, unit="documents") as task:
        while block := list(islice(stream, BLOCK)):
            places = search.map_texts([document.text[:CHARACTERS] for document in block])
            found = places[places >= 0]
            counts += np.bincount(found, minlength=len(tree))
            unmapped += len(block) - len(found)
            sources.update(document.kind.value for document in block)
            task.advance(len(block))
    rare = _hand_up(counts, tree, least)
    mapped = int(counts.sum())
    if not mapped:
        raise InputError(
            f"none of {unmapped + rare:,} documents is about a topic of the taxonomy",
            hint="name more sources, another taxonomy, or a smaller --least",
        )
    supports = {tree.ids[place]: float(counts[place]) for place in np.flatnonzero(counts).tolist()}
    return BuiltProfile(profile=Profile(supports), sources=sources, mapped=mapped, unmapped=unmapped, rare=rare)


def _hand_up(counts: Counts, tree: TopicTree, least: int) -> int:
    """Move the documents of rare topics up, bottom first; give how many arrived at the root, where they say nothing."""
    for place in range(len(counts) - 1, 0, -1):
        if 0 < counts[place] < least:
            counts[tree.parents[place]] += counts[place]
            counts[place] = 0
    lost = int(counts[0])
    counts[0] = 0
    return lost
