"""The jobs on trees of topics: look at one, find topics by words, import what others publish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.guarantee import Guarantee, NoGuarantee
from aidos.core.limits import LEVELS, SHOWN
from aidos.errors import ParameterError
from aidos.jobs.answer import Finding, Release
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Private, Short
from aidos.jobs.options import OnTaxonomy

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.core.taxonomy import Topic
    from aidos.model.taxonomies.opened import OpenedTaxonomy
    from aidos.report.page import Block
    from aidos.report.values import Value

__all__ = ["FindTopics", "FoundTopics", "ImportTaxonomy", "ImportedTopics", "ShowTaxonomy", "ShownTaxonomy"]

TABLE = ".tsv"
NOBODY = NoGuarantee("there is nobody to protect: a taxonomy names topics, not people")
COLUMNS = ("topic", "path", "sensitive", "score")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ShownTaxonomy(Release):
    """A taxonomy, or the branch of one topic."""

    guarantee: Guarantee = NOBODY
    opened: OpenedTaxonomy
    start: str
    """The topic that it begins with."""
    depth: int

    def facts(self) -> Mapping[str, object]:
        """How large it is, and every topic with its children, as deep as asked."""
        return {**_taxonomy_facts(self.opened), "topic": _branch_facts(self.opened, self.start, self.depth)}

    def table(self) -> pa.Table:
        """A row for each topic of the branch."""
        import pyarrow as pa

        rows: list[dict[str, Any]] = []
        stack: list[dict[str, Any]] = [{**_branch_facts(self.opened, self.start, self.depth), "parent": ""}]
        while stack:
            topic = stack.pop()
            children = topic.pop("children")
            rows.append(topic)
            stack.extend({**child, "parent": topic["id"]} for child in reversed(children))
        return pa.Table.from_pylist(rows)

    def blocks(self) -> Sequence[Block]:
        """What is said of the topic, and the branch drawn as a tree."""
        from aidos.report.page import Code, Facts

        about = self.start != self.opened.imported.taxonomy.root
        lines = "\n".join(_branch_lines(self.opened, self.start, self.depth))
        facts = (Facts(tuple(_topic_facts(self.opened, self.start))),) if about else ()
        return (*facts, Code(text=lines, language="text"))

    def remarks(self) -> Sequence[str]:
        """How large the taxonomy is."""
        return (_size_words(_taxonomy_facts(self.opened)),)


@dataclass(frozen=True, slots=True)
class ShowTaxonomy(OnTaxonomy):
    """Show a taxonomy, or the branch of one topic, as a tree; sensitive topics are marked.

    For example:
        aidos taxonomy show
        aidos taxonomy show health --depth 3
        aidos taxonomy show --taxonomy iab.taxonomy --depth 1
    """

    topic: str = ""
    """The topic to begin with, by its id or its name; if unset the root."""
    _: KW_ONLY
    depth: Annotated[int, Ge(0), LEVELS] = 2
    """How many levels below it."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> ShownTaxonomy:  # noqa: ARG002  # every job is asked at a desk
        """Open the taxonomy, and look for the topic."""
        from aidos.model.taxonomies.opened import find_topic, open_named

        opened = open_named(self.taxonomy)
        start = find_topic(opened, self.topic) if self.topic else opened.imported.taxonomy.root
        return ShownTaxonomy(opened=opened, start=start, depth=self.depth)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FoundTopics(Finding):
    """Topics that a text is about, best first."""

    about: str = "whoever wrote the text"
    rows: tuple[tuple[Value, ...], ...]

    def facts(self) -> Mapping[str, object]:
        """Every topic with its path and score."""
        return {"topics": [dict(zip(COLUMNS, row, strict=True)) for row in self.rows]}

    def table(self) -> pa.Table:
        """A row for each topic."""
        import pyarrow as pa

        schema = pa.schema([(name, pa.float64() if name == "score" else pa.string()) for name in COLUMNS])
        return pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in self.rows], schema)

    def blocks(self) -> Sequence[Block]:
        """The same."""
        from aidos.report.page import DataTable

        return (DataTable(caption="Topics, best first", columns=COLUMNS, rows=self.rows),) if self.rows else ()

    def remarks(self) -> Sequence[str]:
        """That there is none."""
        return () if self.rows else ("these words tell no topic",)


@dataclass(frozen=True, slots=True)
class FindTopics(OnTaxonomy):
    """Find the topics that a text is about, best first, each with its path.

    Topics that lie above another one that is found are left out.

    For example:
        aidos taxonomy find saxophone lessons
        aidos taxonomy find eagles --taxonomy wordnet.taxonomy --most 5
    """

    words: Annotated[tuple[str, ...], Private("names")]
    """The words to look for, or - for the standard input."""
    _: KW_ONLY
    most: Annotated[int, Ge(1), SHOWN] = 20
    """How many topics at most."""
    least: float = 0.3
    """Share of the best score that a topic needs, from 0 to 1."""

    def run(self, desk: Desk) -> FoundTopics:
        """Search the names, words and descriptions of topics."""
        from aidos.model.taxonomies.opened import open_named, searcher

        opened = open_named(self.taxonomy)
        with desk.remark_if_slow("indexing topics; import with --index keeps the index"):
            search, remark = searcher(opened)
        hits = search.find(" ".join(self.words), most=self.most, least=self.least)
        if remark:
            desk.remark(remark)
        known, ids = opened.imported.taxonomy, opened.tree.ids
        found = zip(hits.places.tolist(), hits.scores.tolist(), strict=True)
        return FoundTopics(
            rows=tuple(
                (ids[place], _path_of(opened, place), known.sensitive_category(ids[place]), score)
                for place, score in found
            )
        )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ImportedTopics(Release):
    """A taxonomy of somebody else, as aidos keeps it."""

    guarantee: Guarantee = NOBODY
    opened: OpenedTaxonomy
    index: Path | None = None
    """Where its search index was written."""

    def facts(self) -> Mapping[str, object]:
        """Where it is, how large it is, and what was changed on the way."""
        beside, remarks = str(self.index or ""), self.opened.imported.remarks
        return {"output": str(self.opened.file), "index": beside, **_taxonomy_facts(self.opened), "remarks": remarks}

    def blocks(self) -> Sequence[Block]:
        """The file."""
        from aidos.report.page import Code

        return (Code(text=str(self.opened.file), language="text"),)

    def remarks(self) -> Sequence[str]:
        """What was changed on the way, and how large it is."""
        return (*self.opened.imported.remarks, _size_words(_taxonomy_facts(self.opened)))


@dataclass(frozen=True, slots=True)
class ImportTaxonomy:
    """Import a taxonomy that somebody publishes into a file that loads fast.

    Formats: aidos, iab, shopify, chrome, dmoz, wordnet, paths, icd-10-cm.
    Nothing is fetched: get the file first.

    For example:
        aidos taxonomy import /usr/share/wordnet -o wordnet.taxonomy --index
        aidos taxonomy import "Content Taxonomy 3.1.tsv" -o iab.taxonomy
        aidos taxonomy import icd-10-cm -o diagnoses.taxonomy
        aidos taxonomy import categories.txt -o products.tsv
    """

    source: str
    """The file, the directory of WordNet, or icd-10-cm for the diagnoses of the package simple-icd-10-cm."""
    _: KW_ONLY
    output: Annotated[Path, Short("-o")]
    """The file to write: name.taxonomy is compressed, name.tsv is a table to edit."""
    format_name: Annotated[str, Named("--format")] = ""
    """The format, where it cannot be told from the content."""
    unrolled: bool = False
    """WordNet: a topic stands below each of its parents. The usual way."""
    first_parent: bool = False
    """WordNet: a topic stands below its first parent alone."""
    index: bool = False
    """Also write the search index beside it, so that finding starts at once."""

    def __post_init__(self) -> None:
        if self.unrolled and self.first_parent:
            raise ParameterError("--unrolled and --first-parent exclude each other", hint="choose one of them")

    def run(self, desk: Desk) -> ImportedTopics:
        """Read the source, and keep it."""
        from aidos.model.taxonomies.opened import OpenedTaxonomy, index_beside
        from aidos.model.taxonomies.reading import open_taxonomy

        _check_target(self.output, index=self.index)
        with desk.remark_if_slow(f"reading {self.source}"):
            imported = open_taxonomy(self.source, format_name=self.format_name, first_parent=self.first_parent)
            opened = OpenedTaxonomy(imported=imported, tree=imported.tree(), file=self.output)
        _write_taxonomy(opened, self.output, index=self.index)
        return ImportedTopics(opened=opened, index=index_beside(self.output) if self.index else None)


def _size_words(facts: Mapping[str, object]) -> str:
    return f"{facts['topics']:,} topics, at most {facts['depth']} below the root, {facts['sensitive']:,} sensitive"


def _path_of(opened: OpenedTaxonomy, place: int) -> str:
    """The names from below the root down to the topic at that place."""
    steps = opened.imported.taxonomy.path(opened.tree.ids[place])
    return " > ".join(step.name for step in (steps[1:] or steps))


def _topic_facts(opened: OpenedTaxonomy, topic_id: str) -> list[tuple[str, str]]:
    """What is said about one topic; only what there is."""
    topic = opened.imported.taxonomy[topic_id]
    facts = (
        ("path", _path_of(opened, opened.tree.place(topic_id))),
        ("about", topic.description),
        ("words", " ".join(topic.words)),
    )
    return [fact for fact in facts if fact[1]]


def _taxonomy_facts(opened: OpenedTaxonomy) -> dict[str, object]:
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


def _branch_lines(opened: OpenedTaxonomy, topic_id: str, depth: int) -> Iterator[str]:
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


def _branch_facts(opened: OpenedTaxonomy, topic_id: str, depth: int) -> dict[str, object]:
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


def _check_target(output: Path, *, index: bool) -> None:
    """Refuse a place to write to before anything is read."""
    from aidos.model.taxonomies.cache import SUFFIX
    from aidos.model.taxonomies.opened import index_beside

    if output.suffix not in (SUFFIX, TABLE):
        raise ParameterError(
            f"{output} must end in {SUFFIX} (compressed, loads fast) or {TABLE} (a table to edit)",
            hint=f"for example -o {output.stem}{SUFFIX}",
        )
    if index and index_beside(output).exists():
        raise ParameterError(f"{index_beside(output)} exists already", hint="remove it first, or choose another name")


def _write_taxonomy(opened: OpenedTaxonomy, output: Path, *, index: bool) -> None:
    """Keep a taxonomy in a file, with its search index beside it where that is asked for."""
    from aidos.model.taxonomies.cache import save_taxonomy
    from aidos.model.taxonomies.opened import index_beside
    from aidos.model.taxonomies.reading import write_native

    _check_target(output, index=index)
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
