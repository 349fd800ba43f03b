"""`aidos risk add` and `forget`: new posts, and what must go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aidos.app.commands.risk.telling import Where
from aidos.app.console import Common, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.report.values import Value

__all__ = ["add", "forget"]


def add(
    files: Sequence[str],
    /,
    *,
    where: Where,
    without_times: bool = False,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Take in new posts or queries: all ranks change, and nothing is computed again.

    An entry that was counted already, by its name, is left out; one that comes
    with another text, person or time is refused. Only measures of third
    parties are computed again, from all entries.

    For example:
        aidos risk add new-posts.jsonl --in ranks

    Parameters
    ----------
    files
        New posts or queries: files or glob patterns.
    without_times
        Read files with author_id and text, and no look at times.
    """
    common = common or Common()
    directory = where.ranking()
    from aidos.app.risk.entries import read_entries

    options = (how or HowToRead()).options()
    with open_engine(common) as engine, directory.writing() as store:
        first = store.state.next_entry
        with read_entries(engine, files, options, without_times=without_times, first=first).held() as came:
            added = directory.add(store, came)
        everybody, others = len(store.state), store.state.plan.others
    facts: dict[str, Value] = {
        "entries": added.change.entries,
        "already counted": added.repeated,
        "people concerned": len(added.change.people),
        "new people": added.change.new_people,
        "people ranked": everybody,
    }
    if others and added.change.entries:
        named = ", ".join(measure.name for measure in others)
        tell(f"computed again from all entries: {named}", quiet=common.quiet)
    return _tell(facts, common)


def forget(
    *,
    where: Where,
    person: str | None = None,
    post: str | None = None,
    common: Common | None = None,
) -> int:
    """Forget a person, or one post: text, numbers and names leave the directory, and the ranks of others change.

    Files are written anew, and the old ones are overwritten. What was made
    from the directory before (pages, overviews, tables of quantiles) is not
    touched, nor are backups; models keep words that many people use.

    For example:
        aidos risk forget --person ID --in ranks
        aidos risk forget --post NAME --in ranks
        aidos risk forget --post NAME --person ID --in ranks

    Parameters
    ----------
    person
        Who is forgotten, as the posts or the log name her; with --post, whose post it is.
    post
        The one post or query that is forgotten, by its name.
    """
    common = common or Common()
    if not person and not post:
        raise ParameterError("who or what is to be forgotten is missing", hint="give --person ID, or --post NAME")
    directory = where.ranking()
    with open_engine(common) as engine, directory.writing() as store:
        gone = directory.forget(store, engine, person, post)
    facts: dict[str, Value] = {"entries forgotten": gone.entries, "people ranked": gone.people}
    if gone.people == 0:
        tell("nobody is left: remove the directory, or add posts", quiet=common.quiet)
    return _tell(facts, common)


def _tell(facts: dict[str, Value], common: Common) -> int:
    from aidos.report.terminal import facts_table

    if common.json:
        show_json({name.replace(" ", "_"): value for name, value in facts.items()})
    else:
        show(facts_table(list(facts.items())))
    return 0
