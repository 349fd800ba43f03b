"""`aidos expose add` and `delete`: keep the exposure current."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.app.commands.expose.telling import Where, tell_size
from aidos.app.console import Common, open_engine, show, show_json
from aidos.app.reading import HowToRead
from aidos.app.standardinput import PrivateNames
from aidos.engine.inputs import read_text
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.rooms.exposure.queries.changes import Change

__all__ = ["add", "delete"]


def add(
    files: Sequence[str],
    /,
    *,
    where: Where,
    largest_spill: str | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Add new posts: only the queries of their words are ranked again.

    The statistics of the language stay those of the last `compute`.

    For example:
        aidos expose add new-posts.jsonl --in exposure

    Parameters
    ----------
    files
        Posts whose ids are not there yet: files or glob patterns.
    largest_spill
        How much may be written, for example 5GB; 2GB unless given, which posts of some 3,700 different words need.
    """
    from aidos.ingest.reading import read_files
    from aidos.rooms.exposure.queries.estimate import ROOM_FOR_CHANGES
    from aidos.rooms.exposure.queries.store import ExposureStore

    common = common or Common()
    store = ExposureStore.open(where.directory)
    with open_engine(common) as engine:
        posts = read_files(engine, files, (how or HowToRead()).options()).table.fetch()
    room = replace(ROOM_FOR_CHANGES, tell=lambda told: tell_size(told, common))
    return _tell(store.add(posts, room=replace(room, largest=largest_spill) if largest_spill else room), common)


def delete(
    post_ids: PrivateNames = (), /, *, where: Where, file: Path | None = None, common: Common | None = None
) -> int:
    """Delete posts: only the queries of their words are ranked again.

    For example:
        aidos expose delete p17 p18 --in exposure
        aidos expose delete - --in exposure < deleted.txt
        aidos expose delete --file deleted.txt --in exposure

    Parameters
    ----------
    post_ids
        The ids of posts, or - for the standard input, one a line.
    file
        A file with one id a line, instead of or beside those named.
    """
    from aidos.engine.scratch import sweep_scratch
    from aidos.rooms.exposure.queries.store import ExposureStore

    common = common or Common()
    sweep_scratch()
    named = [*post_ids, *(_lines(file) if file else [])]
    if not named:
        raise ParameterError("no post is named", hint="name post ids, or a file of them with --file")
    return _tell(ExposureStore.open(where.directory).delete(named), common)


def _lines(path: Path) -> list[str]:
    text = read_text(path, hint="name a file in utf-8 with one id a line")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _tell(change: Change, common: Common) -> int:
    from aidos.report.terminal import facts_table

    facts = asdict(change)
    if common.json:
        show_json(facts)
    else:
        show(facts_table([(name.replace("_", " "), value) for name, value in facts.items()]))
    return 0
