"""`aidos shield profile build`: from what you read, kept and searched for to topics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, TerminalProgress, open_engine, remark_if_slow, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.app.standardinput import PrivateName
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.core.profile import BuiltProfile, KeptProfile
    from aidos.model.taxonomies.opened import OpenedTaxonomy

__all__ = ["build"]


def build(
    sources: Sequence[str],
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    taxonomy: Path | None = None,
    least: int = 1,
    person: PrivateName = "",
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
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

    Parameters
    ----------
    sources
        Files and folders to read.
    output
        The private file to write; aidos/profile.json where programs keep your data unless given.
    taxonomy
        A file with a taxonomy; the one that comes with aidos unless given.
    least
        Documents that a topic needs to be kept; fewer count at the topic above. 1 unless given.
    person
        Whose rows of a log or of posts are read, where they are of several people; - for a line of standard input.
    """
    from aidos.ingest.history.reading import read_history
    from aidos.model.profilefile import default_place
    from aidos.model.taxonomies.opened import open_named, searcher
    from aidos.rooms.shield.profile.building import build_profile

    common = common or Common()
    if not sources:
        raise ParameterError("no source was named", hint="see: aidos shield profile build --help")
    opened = open_named(taxonomy)
    path = output or default_place()
    before = _kept_before(path, opened)
    with remark_if_slow("indexing topics", quiet=common.quiet):
        search, remark = searcher(opened)
    if remark:
        tell(remark, quiet=common.quiet)
    options = (how or HowToRead()).options()
    with open_engine(common) as engine:
        documents = (
            document
            for source in dict.fromkeys(sources)
            for document in read_history(engine, source, person=person, options=options)
        )
        built = build_profile(documents, search, least=least, progress=TerminalProgress(quiet=common.quiet))
    return _keep(path, built, before, opened, common)


def _kept_before(path: Path, opened: OpenedTaxonomy) -> KeptProfile | None:
    """The profile that is there already; asked before long work, since a file that is none is not overwritten."""
    from aidos.model.profilefile import read_profile

    return read_profile(path, opened.tree) if path.exists() else None


def _keep(path: Path, built: BuiltProfile, before: KeptProfile | None, opened: OpenedTaxonomy, common: Common) -> int:
    from aidos.core.profile import KeptProfile
    from aidos.model.profilefile import default_place, taxonomy_name, write_profile
    from aidos.rooms.shield.profile.requirement import default_requirement

    usual = default_requirement(opened.imported.taxonomy, built.profile)
    if before is None:
        kept = KeptProfile.of(built, opened.tree, usual, taxonomy=taxonomy_name(opened))
    else:
        kept = before.rebuilt(built, usual, opened.tree)
        tell(f"{path} was there: its marks were kept, its counts are new", quiet=common.quiet)
    if path == default_place():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_profile(path, kept)
    _tell(path, built, kept, common)
    return 0


def _tell(path: Path, built: BuiltProfile, kept: KeptProfile, common: Common) -> None:
    from aidos.report.terminal import facts_table

    facts: dict[str, int] = {
        "documents": built.documents,
        "mapped": built.mapped,
        "without_topic": built.unmapped,
        "too_rare": built.rare,
        "topics": len(kept.supports),
        "sensitive_topics": len(kept.sensitivities),
    }
    if common.json:
        show_json({"profile": str(path), "sources": dict(built.sources), **facts})
        return
    kinds = [(kind.replace("-", " "), count) for kind, count in built.sources.items()]
    show(facts_table([*kinds, *((name.replace("_", " "), count) for name, count in facts.items())]))
    print(path)
    tell("the file is private: it holds topics and counts, no text and no address", quiet=common.quiet)
