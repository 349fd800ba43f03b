"""An imported taxonomy in one compressed file, ``name.taxonomy``, that loads in about a second with 100,000 topics.

Topics stand depth first with the places of their parents, so that loading needs no search for cycles: a parent stands
before its children. The digest names the content, for whatever was computed from it, such as a search index.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.core.taxonomy import DEEPEST, Taxonomy, Topic
from aidos.engine.inputs import open_input
from aidos.errors import InputError
from aidos.model.archive import read_archive, write_archive
from aidos.model.taxonomies.records import ImportedTaxonomy

__all__ = ["SUFFIX", "digest_of", "is_kept_file", "load_taxonomy", "save_taxonomy"]

SUFFIX = ".taxonomy"
KIND = "a taxonomy"
VERSION = 1
FIELDS = 5
"""Texts of a topic: id, name, sensitive category, description, words."""


def is_kept_file(path: Path) -> bool:
    """Whether the file is an archive, as kept taxonomies are."""
    with open_input(path) as file:
        return file.read(4) == b"PK\x03\x04"


def save_taxonomy(imported: ImportedTaxonomy, path: Path) -> None:
    """Write the file, whole or not at all."""
    taxonomy = imported.taxonomy
    topics = list(taxonomy.walk())
    places = {topic.id: place for place, topic in enumerate(topics)}
    supports = imported.leaf_supports
    texts = [topic.id for topic in topics]
    texts += [topic.name for topic in topics]
    texts += [topic.sensitive for topic in topics]
    texts += [topic.description for topic in topics]
    texts += ["\n".join(topic.words) for topic in topics]
    write_archive(
        path,
        kind=KIND,
        version=VERSION,
        facts={"from": imported.format, "remarks": imported.remarks, "digest": digest_of(taxonomy)},
        words=texts,
        arrays={
            "parents": np.array([places.get(topic.parent, -1) for topic in topics], dtype=np.int32),
            "supports": np.array([supports.get(topic.id, np.nan) for topic in topics], dtype=np.float64),
        },
    )


def load_taxonomy(path: Path) -> ImportedTaxonomy:
    """The taxonomy of a file that `save_taxonomy` wrote; InputError where the file is another or damaged."""
    held: dict[str, tuple[type[np.generic], int]] = {"parents": (np.int32, 1), "supports": (np.float64, 1)}
    facts, texts, arrays = read_archive(path, kind=KIND, version=VERSION, arrays=held)
    parents, supports = arrays["parents"], arrays["supports"]
    number = len(parents)
    if not _is_tree(parents) or len(texts) != FIELDS * number or len(supports) != number:
        raise InputError(f"{path} does not hold {KIND}, or is damaged", hint="import the taxonomy again")
    ids, names, sensitive, descriptions, words = (texts[at * number : (at + 1) * number] for at in range(FIELDS))
    given = {ids[place]: float(supports[place]) for place in np.flatnonzero(~np.isnan(supports)).tolist()}
    above = ["" if parent < 0 else ids[parent] for parent in parents.tolist()]
    parted = [tuple(joined.split("\n")) if joined else () for joined in words]
    topics = list(map(Topic, ids, above, names, sensitive, descriptions, parted))
    taxonomy = _assemble(topics)
    if len(taxonomy) != number or facts.get("digest") != digest_of(taxonomy):
        raise InputError(f"{path} is damaged: its digest is not the one that was written", hint="import it again")
    remarks = tuple(map(str, facts["remarks"])) if isinstance(facts.get("remarks"), list) else ()
    return ImportedTaxonomy(taxonomy=taxonomy, format=str(facts.get("from")), leaf_supports=given, remarks=remarks)


def digest_of(taxonomy: Taxonomy) -> str:
    """Names the content of a taxonomy: the same topics in the same order have the same digest."""
    digest = sha256()
    pieces = [
        "\x1f".join((topic.id, topic.parent, topic.name, topic.sensitive, topic.description, *topic.words))
        for topic in taxonomy.walk()
    ]
    digest.update("\x1e".join(pieces).encode("utf-8"))
    return digest.hexdigest()


def _is_tree(parents: NDArray[Any]) -> bool:
    """Whether parents stand before their children, below one root."""
    if parents.ndim != 1 or not len(parents) or parents[0] != -1:
        return False
    return bool(np.all((parents[1:] >= 0) & (parents[1:] < np.arange(1, len(parents))))) and not _is_deep(parents)


def _is_deep(parents: NDArray[Any]) -> bool:
    """Whether some topic has more levels above it than a taxonomy may have."""
    above = parents[parents >= 0]
    for _ in range(DEEPEST):
        above = parents[above]
        above = above[above >= 0]
        if not len(above):
            return False
    return True


def _assemble(topics: Sequence[Topic]) -> Taxonomy:
    """The tree of topics that are known to be one."""
    children: dict[str, list[str]] = {}
    for topic in topics[1:]:
        children.setdefault(topic.parent, []).append(topic.id)
    below = {topic_id: tuple(listed) for topic_id, listed in children.items()}
    found = {topic.id: topic for topic in topics}
    return Taxonomy(MappingProxyType(found), topics[0].id, MappingProxyType(below))
