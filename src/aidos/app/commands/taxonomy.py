"""`aidos taxonomy`: look at trees of topics, find topics by words, import what others publish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.console import Common, remark_if_slow, show, show_json, tell
from aidos.app.standardinput import PrivateNames
from aidos.errors import ParameterError

__all__ = ["PARTS", "find", "import_taxonomy", "show_taxonomy", "taxonomy"]


def taxonomy() -> int:
    """Look at trees of topics, find topics by words, and import trees that others publish.

    For example:
        aidos taxonomy show health --depth 3
        aidos taxonomy find saxophone lessons
        aidos taxonomy import /usr/share/wordnet -o wordnet.taxonomy --index
    """
    raise ParameterError("what to do is missing: show, find or import", hint="see: aidos taxonomy --help")


def show_taxonomy(
    topic: str = "",
    /,
    *,
    taxonomy: Path | None = None,
    depth: int = 2,
    common: Common | None = None,
) -> int:
    """Show a taxonomy, or the branch of one topic, as a tree; sensitive topics are marked.

    For example:
        aidos taxonomy show
        aidos taxonomy show health --depth 3
        aidos taxonomy show --taxonomy iab.taxonomy --depth 1

    Parameters
    ----------
    topic
        The topic to begin with, by its id or its name; the root unless given.
    taxonomy
        A file with a taxonomy; the one that comes with aidos unless given.
    depth
        How many levels below it; 2 unless given.
    """
    from rich.text import Text

    from aidos.model.taxonomies.opened import (
        branch_facts,
        branch_lines,
        find_topic,
        open_named,
        taxonomy_facts,
        topic_facts,
    )
    from aidos.report.terminal import facts_table
    from aidos.report.values import show as plain

    if depth < 0:
        raise ParameterError(f"--depth must be at least 0, got {depth}")
    common = common or Common()
    opened = open_named(taxonomy)
    start = find_topic(opened, topic) if topic else opened.imported.taxonomy.root
    facts = taxonomy_facts(opened)
    if common.json:
        show_json({**facts, "topic": branch_facts(opened, start, depth)})
        return 0
    if topic:
        show(facts_table(topic_facts(opened, start)))
    lines = "\n".join(map(plain, branch_lines(opened, start, depth)))
    show(Text(lines, no_wrap=True, overflow="ignore"))
    _tell_facts(facts, common)
    return 0


def find(
    words: PrivateNames,
    /,
    *,
    taxonomy: Path | None = None,
    most: int = 20,
    least: float = 0.3,
    common: Common | None = None,
) -> int:
    """Find the topics that a text is about, best first, each with its path.

    Topics that lie above another one that is found are left out.

    For example:
        aidos taxonomy find saxophone lessons
        aidos taxonomy find eagles --taxonomy wordnet.taxonomy --most 5

    Parameters
    ----------
    words
        The words to look for, or - for the standard input.
    taxonomy
        A file with a taxonomy; the one that comes with aidos unless given.
    most
        How many topics at most; 20 unless given.
    least
        Share of the best score that a topic needs, from 0 to 1; 0.3 unless given.
    """
    from aidos.model.taxonomies.opened import open_named, path_of, searcher
    from aidos.report.terminal import rows_table

    common = common or Common()
    opened = open_named(taxonomy)
    with remark_if_slow("indexing topics; import with --index keeps the index", quiet=common.quiet):
        search, remark = searcher(opened)
    hits = search.find(" ".join(words), most=most, least=least)
    if remark:
        tell(remark, quiet=common.quiet)
    known = opened.imported.taxonomy
    rows = [
        (opened.tree.ids[place], path_of(opened, place), known.sensitive_category(opened.tree.ids[place]), score)
        for place, score in zip(hits.places.tolist(), hits.scores.tolist(), strict=True)
    ]
    columns = ("topic", "path", "sensitive", "score")
    if common.json:
        show_json({"topics": [dict(zip(columns, row, strict=True)) for row in rows]})
    elif rows:
        show(rows_table(columns, rows))
    else:
        tell("no topic has any of these words", quiet=common.quiet)
    return 0


def import_taxonomy(
    source: str,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    format_name: Annotated[str, Parameter(name="--format")] = "",
    unrolled: bool = False,
    first_parent: bool = False,
    index: bool = False,
    common: Common | None = None,
) -> int:
    """Import a taxonomy that somebody publishes into a file that loads fast.

    Formats: aidos, iab, shopify, chrome, dmoz, wordnet, paths, icd-10-cm.
    Nothing is fetched: get the file first.

    For example:
        aidos taxonomy import /usr/share/wordnet -o wordnet.taxonomy --index
        aidos taxonomy import "Content Taxonomy 3.1.tsv" -o iab.taxonomy
        aidos taxonomy import icd-10-cm -o diagnoses.taxonomy
        aidos taxonomy import categories.txt -o products.tsv

    Parameters
    ----------
    source
        The file, the directory of WordNet, or icd-10-cm for the diagnoses of the package simple-icd-10-cm.
    output
        The file to write: name.taxonomy is compressed, name.tsv is a table to edit.
    format_name
        The format, where it cannot be told from the content.
    unrolled
        WordNet: a topic stands below each of its parents. The usual way.
    first_parent
        WordNet: a topic stands below its first parent alone.
    index
        Also write the search index beside it, so that finding starts at once.
    """
    from aidos.model.taxonomies.opened import OpenedTaxonomy, check_target, index_beside, taxonomy_facts, write_taxonomy
    from aidos.model.taxonomies.reading import open_taxonomy

    common = common or Common()
    if unrolled and first_parent:
        raise ParameterError("--unrolled and --first-parent exclude each other", hint="choose one of them")
    check_target(output, index=index)
    with remark_if_slow(f"reading {source}", quiet=common.quiet):
        imported = open_taxonomy(source, format_name=format_name, first_parent=first_parent)
        opened = OpenedTaxonomy(imported=imported, tree=imported.tree(), file=output)
    write_taxonomy(opened, output, index=index)
    facts = taxonomy_facts(opened)
    if common.json:
        beside = str(index_beside(output)) if index else ""
        show_json({"output": str(output), "index": beside, **facts, "remarks": imported.remarks})
        return 0
    for remark in imported.remarks:
        tell(remark, quiet=common.quiet)
    _tell_facts(facts, common)
    show(str(output))
    return 0


def _tell_facts(facts: dict[str, object], common: Common) -> None:
    words = f"{facts['topics']:,} topics, at most {facts['depth']} below the root, {facts['sensitive']:,} sensitive"
    tell(words, quiet=common.quiet)


PARTS = {"show": show_taxonomy, "find": find, "import": import_taxonomy}
