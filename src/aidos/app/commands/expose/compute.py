"""`aidos expose compute`: all exposure sets of a community."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.expose.telling import tell_facts
from aidos.app.console import Common, TerminalProgress, open_engine, remark_if_slow, tell
from aidos.app.reading import HowToRead

if TYPE_CHECKING:
    from aidos.exposure.queries.settings import SearchExposure

__all__ = ["Searching", "compute"]


@Parameter(name="*", group="How the community's search ranks")
@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """Options that say how the search behaves."""

    k: Annotated[int, Parameter(name=["-k", "--results"])] = 10
    """How many results people look at; 10 unless given."""

    scorer: str = "ql-dirichlet"
    """How results are scored: ql-dirichlet, ql-dirichlet:matching_only=true (Lucene, PISA), ql-jm or bm25."""

    semantics: str = "or"
    """Whether one of two words is enough (or), or both are needed (and)."""

    ties: str = "newest"
    """Which of two posts with the same score comes first: newest, oldest or id."""

    analyser: str = "words"
    """What counts as a word, for example words:stop_words=english,stemmer=english."""

    longest_post: int = 1000
    """Words of a post that are looked at; longer ones are cut and counted; 1000 unless given."""

    def settings(self) -> SearchExposure:
        """As a value that the exposure room takes."""
        from dataclasses import asdict

        from aidos.app.recipe import fill_parameters
        from aidos.exposure.queries.settings import SearchExposure

        made: SearchExposure = fill_parameters("search-exposure", SearchExposure, asdict(self))
        return made


def compute(
    files: Sequence[str],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    searching: Searching | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Find every query of one or two words that returns a post among the first.

    The directory can be asked afterwards: see `aidos expose member`, `query`,
    `draft` and `audit`. It holds people's words and is for its owner only. A
    run that was cut off goes on where it was when it is started again.

    For example:
        aidos expose compute posts.parquet -o exposure
        aidos expose compute "posts/*.jsonl" -k 20 --scorer bm25 -o exposure
        aidos expose compute posts.csv --column author_id=user --semantics and -o exposure

    Parameters
    ----------
    files
        The community's posts: files or glob patterns.
    output
        The directory to write, or to go on with.
    """
    from aidos.exposure.queries.compute import compute as compute_exposure
    from aidos.ingest.reading import read_files

    common = common or Common()
    settings = (searching or Searching()).settings()
    progress = TerminalProgress(quiet=common.quiet)
    memory = {"memory": common.memory} if common.memory else {}
    with open_engine(common) as engine:
        posts = read_files(engine, files, (how or HowToRead()).options()).table
        with remark_if_slow("the first run also compiles; the next will find it ready", quiet=common.quiet):
            facts = compute_exposure(posts, settings, output, threads=common.threads, progress=progress, **memory)
    if facts.cut_posts:
        tell(
            f"{facts.cut_posts:,} posts are longer than {settings.longest_post:,} words and were cut there",
            quiet=common.quiet,
        )
    return tell_facts(output, facts, common)
