"""A taxonomy that is named, or the default one: its tree, what finds its topics, its branches as lines and as facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.core.taxonomy import Topic
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.model.taxonomies.cache import SUFFIX, save_taxonomy
from aidos.model.taxonomies.reading import open_taxonomy
from aidos.model.taxonomies.records import ImportedTaxonomy
from aidos.model.taxonomies.tabular import write_native
from aidos.model.topics import default_taxonomy

if TYPE_CHECKING:
    from aidos.model.topicsearch import TopicSearch

__all__ = [
    "OpenedTaxonomy",
    "branch_facts",
    "branch_lines",
    "check_target",
    "find_topic",
    "index_beside",
    "open_named",
    "path_of",
    "searcher",
    "taxonomy_facts",
    "topic_facts",
    "write_taxonomy",
]

TABLE = ".tsv"


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


def path_of(opened: OpenedTaxonomy, place: int) -> str:
    """The names from below the root down to the topic at that place."""
    steps = opened.imported.taxonomy.path(opened.tree.ids[place])
    return " > ".join(step.name for step in (steps[1:] or steps))


def topic_facts(opened: OpenedTaxonomy, topic_id: str) -> list[tuple[str, str]]:
    """What is said about one topic; only what there is."""
    topic = opened.imported.taxonomy[topic_id]
    facts = (
        ("path", path_of(opened, opened.tree.place(topic_id))),
        ("about", topic.description),
        ("words", " ".join(topic.words)),
    )
    return [fact for fact in facts if fact[1]]


def taxonomy_facts(opened: OpenedTaxonomy) -> dict[str, object]:
    """How large it is, how deep, and how much of it is sensitive."""
    taxonomy, tree = opened.imported.taxonomy, opened.tree
    depths = [0] * len(tree)
    sensitive = [False] * len(tree)
    for place, parent in enumerate(tree.parents.tolist()):
        marked = bool(taxonomy[tree.ids[place]].sensitive)
        depths[place] = 0 if parent < 0 else depths[parent] + 1
        sensitive[place] = marked or (parent >= 0 and sensitive[parent])
    return {
        "format": opened.imported.format,
        "topics": len(tree),
        "without_children": int((tree.sizes == 1).sum()),
        "depth": max(depths),
        "sensitive": sum(sensitive),
        "supports_given": len(opened.imported.leaf_supports),
    }


def branch_lines(opened: OpenedTaxonomy, topic_id: str, depth: int) -> Iterator[str]:
    """A topic and what is below it, drawn as a tree; what is cut off is counted."""
    taxonomy = opened.imported.taxonomy
    # The lead of a topic's own line, the lead of lines below it, and how deep it lies.
    stack = [(topic_id, "", "", 0)]
    while stack:
        here, own, below, level = stack.pop()
        children = taxonomy.children.get(here, ())
        hidden = int(opened.tree.sizes[opened.tree.places[here]]) - 1 if level == depth else 0
        yield own + _label(taxonomy[here], taxonomy.sensitive_category(here), hidden)
        if level < depth:
            for at, child in reversed(list(enumerate(children))):
                last = at == len(children) - 1
                branch, rest = ("└── ", "    ") if last else ("├── ", "│   ")
                stack.append((child, below + branch, below + rest, level + 1))


def branch_facts(opened: OpenedTaxonomy, topic_id: str, depth: int) -> dict[str, object]:
    """The same for machines: every topic with its children, as deep as asked."""
    taxonomy, tree = opened.imported.taxonomy, opened.tree
    made: dict[str, dict[str, object]] = {}
    listed: dict[str, list[dict[str, object]]] = {}
    stack = [(topic_id, 0)]
    while stack:
        here, level = stack.pop()
        topic = taxonomy[here]
        listed[here] = []
        made[here] = {
            "id": here,
            "name": topic.name,
            "sensitive": taxonomy.sensitive_category(here),
            "description": topic.description,
            "support": float(tree.supports[tree.places[here]]),
            "topics_below": int(tree.sizes[tree.places[here]]) - 1,
            "children": listed[here],
        }
        if here != topic_id:
            listed[topic.parent].append(made[here])
        if level < depth:
            stack.extend((child, level + 1) for child in reversed(taxonomy.children.get(here, ())))
    return made[topic_id]


def check_target(output: Path, *, index: bool) -> None:
    """Refuse a place to write to before anything is read."""
    if output.suffix not in (SUFFIX, TABLE):
        raise ParameterError(
            f"{output} must end in {SUFFIX} (compressed, loads fast) or {TABLE} (a table to edit)",
            hint=f"for example -o {output.stem}{SUFFIX}",
        )
    if index and index_beside(output).exists():
        raise ParameterError(f"{index_beside(output)} exists already", hint="remove it first, or choose another name")


def write_taxonomy(opened: OpenedTaxonomy, output: Path, *, index: bool) -> None:
    """Keep a taxonomy in a file, with its search index beside it where that is asked for."""
    check_target(output, index=index)
    if output.suffix == TABLE:
        write_native(opened.imported, output)
    else:
        save_taxonomy(opened.imported, output)
    if index:
        from aidos.model.topicsearch import TopicSearch

        TopicSearch(opened.imported.taxonomy, opened.tree).save(index_beside(output))


def _label(topic: Topic, category: str, hidden: int) -> str:
    marked = f"  [sensitive: {category}]" if category else ""
    more = f"  + {hidden:,} below" if hidden else ""
    same = topic.id.casefold() == topic.name.casefold()
    return f"{topic.name}{'' if same else f' ({topic.id})'}{marked}{more}"
