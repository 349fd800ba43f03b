"""`aidos expose compute`: all exposure sets of a community."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.expose.telling import tell_facts, tell_size
from aidos.app.console import Common, TerminalProgress, open_engine, remark_if_slow, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.rooms.exposure.queries.estimate import Estimate
    from aidos.rooms.exposure.queries.settings import SearchExposure

__all__ = ["Searching", "compute"]

MECHANISM = "search-exposure"


@Parameter(name="*", group="How the community's search ranks")
@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """Options that say how the search behaves."""

    k: Annotated[int | None, Parameter(name=["-k", "--results"])] = None
    """How many results people look at; 10 unless given."""

    scorer: str | None = None
    """How results are scored: ql-dirichlet (unless given), ql-dirichlet:matching_only=true, ql-jm or bm25."""

    semantics: str | None = None
    """Whether one of two words is enough (or), or both are needed (and); or unless given."""

    ties: str | None = None
    """Which of two posts with the same score comes first: newest, oldest or id; newest unless given."""

    analyser: str | None = None
    """What counts as a word, for example words:stop_words=english,stemmer=english."""

    longest_post: int | None = None
    """Words of a post that are looked at; longer ones are cut and counted; 1000 unless given."""

    recipe: Path | None = None
    """A recipe's file, in place of these options."""

    def settings(self) -> SearchExposure:
        """As a value that the exposure room takes."""
        from dataclasses import asdict

        from aidos.app.recipe import fill_parameters, read_recipe
        from aidos.rooms.exposure.queries.settings import SearchExposure

        given = {name: value for name, value in asdict(self).items() if value is not None and name != "recipe"}
        if self.recipe is not None:
            recipe = read_recipe(self.recipe)
            if given:
                raise ParameterError("a recipe takes the place of the other options", hint="change the recipe instead")
            if recipe.mechanism != MECHANISM:
                raise ParameterError(f"{self.recipe} is a recipe for {recipe.mechanism}, not for {MECHANISM}")
            given = dict(recipe.parameters)
        made: SearchExposure = fill_parameters(MECHANISM, SearchExposure, given)
        return made


def compute(
    files: Sequence[str],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    searching: Searching | None = None,
    largest_spill: str | None = None,
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
        aidos expose compute posts.parquet --recipe our-search.toml -o exposure

    Parameters
    ----------
    files
        The community's posts: files or glob patterns.
    output
        The directory to write, or to go on with.
    largest_spill
        How much may be written, temporary files included, for example 60GB; 20GB unless given. It is estimated first.
    """
    from aidos.core.noise import Noise
    from aidos.ingest.reading import read_files
    from aidos.rooms.exposure.queries.estimate import LARGEST, Room
    from aidos.rooms.exposure.queries.manifest import is_finished
    from aidos.rooms.exposure.queries.settings import MEMORY, CommunityPosts

    common = common or Common()
    settings = (searching or Searching()).settings()
    was_done = is_finished(output)
    expected: list[Estimate] = []
    with open_engine(common) as engine:
        posts = read_files(engine, files, (how or HowToRead()).options()).table
        with remark_if_slow("the first run also compiles; the next will find it ready", quiet=common.quiet):
            facts = settings.run(
                CommunityPosts(
                    table=posts,
                    target=output,
                    memory=common.memory or MEMORY,
                    threads=common.threads,
                    progress=TerminalProgress(quiet=common.quiet),
                    room=Room(largest=largest_spill or LARGEST, tell=_telling(expected, common)),
                ),
                Noise(),
            )
    if was_done:
        tell(f"{output} was finished already: nothing was done", quiet=common.quiet)
    if facts.cut_posts:
        cut = f"{facts.cut_posts:,} posts are longer than {settings.longest_post:,} words and were cut there"
        tell(cut, quiet=common.quiet)
    return tell_facts(output, facts, common, estimated=expected[0].bytes if expected else None)


def _telling(expected: list[Estimate], common: Common) -> Callable[[Estimate], None]:
    """Says how much will be written, and keeps it."""

    def told(estimate: Estimate) -> None:
        expected.append(estimate)
        tell_size(estimate, common)

    return told
