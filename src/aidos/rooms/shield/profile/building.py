"""From what a person read, kept and searched for to her profile: each document goes to the topic that it is most about.

Documents are mapped by retrieval, a block at a time, so that a long history takes no more memory than a short one; what
stays is how many documents there are at each topic, and nothing of their text. A document with no word that a topic
knows has no topic and is counted apart. A single document may well be mapped wrongly: with ``least`` topics that few
documents are at hand them to the topic above, which is right more often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from aidos.core.limits import ROWS
from aidos.core.profile import BuiltProfile, KeptProfile
from aidos.core.progress import SILENT, Progress
from aidos.core.taxonomy import Profile
from aidos.engine.files import make_directories
from aidos.errors import InputError, ParameterError
from aidos.ingest.history.document import Document
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Private, Section, Short
from aidos.jobs.options import OnTaxonomy

if TYPE_CHECKING:
    from aidos.core.topictree import TopicTree
    from aidos.model.taxonomies.opened import OpenedTaxonomy
    from aidos.model.topicsearch import TopicSearch
    from aidos.report.page import Block

__all__ = ["BuildProfile", "ProfileFile", "build_profile"]

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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ProfileFile(Finding):
    """A profile that was built, and the file that keeps it."""

    about: str = "one person's interests"
    path: Path
    built: BuiltProfile
    kept: KeptProfile
    rebuilt: bool = False
    """Whether a profile was there before."""

    def facts(self) -> Mapping[str, object]:
        """How many documents were read of each kind, and what became of them."""
        return {"profile": str(self.path), "sources": dict(self.built.sources), **self._counts()}

    def blocks(self) -> Sequence[Block]:
        """The same, and the file at the end."""
        from aidos.report.page import Code, Facts

        kinds = [(kind.replace("-", " "), count) for kind, count in self.built.sources.items()]
        counts = [(name.replace("_", " "), count) for name, count in self._counts().items()]
        return Facts((*kinds, *counts)), Code(text=str(self.path), language="text")

    def remarks(self) -> Sequence[str]:
        """What was kept of the profile before, and what the file holds."""
        before = (f"{self.path} was there: its marks were kept, its counts are new",) if self.rebuilt else ()
        return (*before, "the file is private: it holds topics and counts, no text and no address")

    def _counts(self) -> dict[str, int]:
        return {
            "documents": self.built.documents,
            "mapped": self.built.mapped,
            "without_topic": self.built.unmapped,
            "too_rare": self.built.rare,
            "topics": len(self.kept.supports),
            "sensitive_topics": len(self.kept.sensitivities),
        }


@dataclass(frozen=True, slots=True)
class BuildProfile(OnTaxonomy):
    """Build a profile from a browser's history, bookmarks, a search log, posts or texts.

    What a source is is found out from its content: places.sqlite of Firefox,
    History and Bookmarks of Chrome and Chromium, the directory of a browser's
    profile, bookmarks in JSON or HTML, a search log, StackExchange posts, a
    text, or a folder of texts. A browser may be running: its file is copied
    first and never written to. Texts and addresses are not kept, only how many
    documents there are at each topic. Topics of the usual sensitive categories
    are marked as sensitive. A profile that is there already gets new counts;
    what you marked and what was hidden stays.

    For example:
        aidos shield profile build ~/.mozilla/firefox/*.default-release
        aidos shield profile build ~/.config/chromium/Default -o profile.json
        aidos shield profile build bookmarks.html notes/ -o profile.json
        aidos shield profile build Posts.xml --person 42 --least 2 -o profile.json
    """

    sources: tuple[str, ...]
    """Files and folders to read."""
    _: KW_ONLY
    output: Annotated[Path | None, Short("-o")] = None
    """The private file to write; if unset aidos/profile.json where programs keep your data."""
    least: Annotated[int, Ge(0), ROWS] = 1
    """Documents that a topic needs to be kept; fewer count at the topic above."""
    person: Annotated[str, Private("name")] = ""
    """Whose rows of a log or of posts are read, where they are of several people; - for a line of standard input."""
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> ProfileFile:
        """Read the sources, count their topics, and keep the profile."""
        from aidos.ingest.history.reading import read_history
        from aidos.model.profilefile import default_place, held_profile, read_profile
        from aidos.model.taxonomies.opened import open_named, searcher

        if not self.sources:
            raise ParameterError("no source was named", hint="see: aidos shield profile build --help")
        opened = open_named(self.taxonomy)
        path = self.output or default_place()
        # Asked before long work, since a file that is no profile is not overwritten.
        if path.exists():
            read_profile(path, opened.tree)
        with desk.remark_if_slow("indexing topics"):
            search, remark = searcher(opened)
        if remark:
            desk.remark(remark)
        with desk.engine() as engine:
            documents = (
                document
                for source in dict.fromkeys(self.sources)
                for document in read_history(engine, source, person=self.person, options=self.how.options())
            )
            built = build_profile(documents, search, least=self.least, progress=desk.progress)
        if path == default_place():
            make_directories(path.parent, private=True)
        # Marks and what a session noted while the sources were read are kept.
        with held_profile(path):
            before = read_profile(path, opened.tree) if path.exists() else None
            return _keep(path, built, before, opened)


def _keep(path: Path, built: BuiltProfile, before: KeptProfile | None, opened: OpenedTaxonomy) -> ProfileFile:
    from aidos.model.profilefile import taxonomy_name, write_profile
    from aidos.rooms.shield.profile.requirement import default_requirement

    usual = default_requirement(opened.imported.taxonomy, built.profile)
    if before is None:
        kept = KeptProfile.of(built, opened.tree, usual, taxonomy=taxonomy_name(opened))
    else:
        kept = before.rebuilt(built, usual, opened.tree)
    write_profile(path, kept)
    return ProfileFile(path=path, built=built, kept=kept, rebuilt=before is not None)
