"""A taxonomy that is named, or the default one: about 400 topics written for aidos, from rock music to debt.

It ships as one tab-separated file beside this module: id, parent, name, sensitive category, description, typical
words. Sensitive branches cover the special categories of personal data (origin, politics, religion or belief, trade
unions, genetic and biometric data, health, sex life and orientation) and what people hide besides: money trouble,
crime, addiction, grief, family and work conflicts. The tree is an aid for samples, lexicons and audits; it does not
promise to cover a language or a culture, and no living person is named in it.

Beside it stands a second file with words by which people search for these topics: names, brands, places and phrases.
It is for finding topics alone, and lends its words to topics of any other taxonomy that have the same name, where only
one topic has it. It names people whom many search for, as what they are searched for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.model.taxonomies.reading import open_taxonomy
from aidos.model.taxonomies.records import ImportedTaxonomy

if TYPE_CHECKING:
    from aidos.model.topicsearch import TopicSearch

__all__ = [
    "OpenedTaxonomy",
    "default_taxonomy",
    "find_topic",
    "index_beside",
    "open_named",
    "searcher",
    "words_by_topic",
]


@cache
def default_taxonomy() -> Taxonomy:
    """The taxonomy that comes with aidos; read once."""
    text = files("aidos.model").joinpath("taxonomy.tsv").read_text(encoding="utf-8")
    _header, *lines = text.splitlines()
    return Taxonomy.of(_topic(line) for line in lines)


def _topic(line: str) -> Topic:
    topic_id, parent, name, sensitive, description, words = line.split("\t")
    return Topic(topic_id, parent, name, sensitive, description, tuple(words.split()))


def words_by_topic(taxonomy: Taxonomy) -> Mapping[str, tuple[str, ...]]:
    """Words that people use for topics of a taxonomy, beside its own, by topic; a phrase has underscores."""
    known, named = _known_words(), Counter(topic.name.casefold() for topic in taxonomy.walk())
    found = ((topic.id, topic.name.casefold()) for topic in taxonomy.walk())
    return {topic_id: known[name] for topic_id, name in found if name in known and named[name] == 1}


@cache
def _known_words() -> Mapping[str, tuple[str, ...]]:
    text = files("aidos.model").joinpath("topicwords.tsv").read_text(encoding="utf-8")
    taxonomy = default_taxonomy()
    rows = (line.split("\t") for line in text.splitlines())
    return {taxonomy[topic_id].name.casefold(): tuple(words.split()) for topic_id, words in rows}


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
