"""A taxonomy that is named, or the default one: its tree, and what finds its topics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.model.taxonomies.reading import open_taxonomy
from aidos.model.taxonomies.records import ImportedTaxonomy
from aidos.model.topics import default_taxonomy

if TYPE_CHECKING:
    from aidos.model.topicsearch import TopicSearch

__all__ = ["OpenedTaxonomy", "find_topic", "index_beside", "open_named", "searcher"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTaxonomy:
    """A taxonomy, its arrays, and the file it is from."""

    imported: ImportedTaxonomy
    tree: TopicTree
    file: Path | None
    """None for the taxonomy that comes with aidos."""


def open_named(file: Path | None) -> OpenedTaxonomy:
    """The taxonomy of a file, the default one where none is named."""
    shipped = ImportedTaxonomy(taxonomy=default_taxonomy(), format="aidos")
    imported = shipped if file is None else open_taxonomy(file)
    return OpenedTaxonomy(imported=imported, tree=imported.tree(), file=file)


def index_beside(file: Path) -> Path:
    """Where the search index of a kept taxonomy stands."""
    return file.with_name(file.name + ".index")


def searcher(opened: OpenedTaxonomy) -> tuple[TopicSearch, str]:
    """What finds topics by text, by the index beside the file where there is one; and a remark, if there is any."""
    from aidos.model.topicsearch import TopicSearch

    taxonomy = opened.imported.taxonomy
    if opened.file is not None and (beside := index_beside(opened.file)).is_dir():
        try:
            return TopicSearch.open(beside, taxonomy, opened.tree), ""
        except InputError as error:
            return TopicSearch(taxonomy, opened.tree), f"{error.message}; it was not used"
    return TopicSearch(taxonomy, opened.tree), ""


def find_topic(opened: OpenedTaxonomy, said: str) -> str:
    """The id of a topic that is named by its id or, where only one has it, by its name."""
    taxonomy = opened.imported.taxonomy
    if said in taxonomy.topics:
        return said
    same = [topic.id for topic in taxonomy.walk() if topic.name.casefold() == said.casefold()]
    if len(same) == 1:
        return same[0]
    if same:
        more = ", ..." if len(same) > 5 else ""
        raise ParameterError(
            f"{len(same)} topics have the name {said!r}: {', '.join(same[:5])}{more}", hint="name one by its id"
        )
    raise ParameterError(
        f"the taxonomy has no topic {said!r}", hint=f"look it up: aidos taxonomy find {said.replace('-', ' ')}"
    )
