"""`aidos expose add` and `delete`: keep the exposure current."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.app.commands.expose.telling import Where
from aidos.app.console import Common, open_engine, show, show_json
from aidos.app.reading import HowToRead
from aidos.errors import InputError, ParameterError

if TYPE_CHECKING:
    from aidos.exposure.queries.changes import Change

__all__ = ["add", "delete"]


def add(files: Sequence[str], /, *, where: Where, how: HowToRead | None = None, common: Common | None = None) -> int:
    """Add new posts: only the queries of their words are ranked again.

    The statistics of the language stay those of the last `compute`.

    For example:
        aidos expose add new-posts.jsonl --in exposure

    Parameters
    ----------
    files
        Posts whose ids are not there yet: files or glob patterns.
    """
    from aidos.exposure.queries.store import ExposureStore
    from aidos.ingest.reading import read_files

    common = common or Common()
    store = ExposureStore.open(where.directory)
    with open_engine(common) as engine:
        posts = read_files(engine, files, (how or HowToRead()).options()).table.fetch()
    return _tell(store.add(posts), common)


def delete(
    post_ids: Sequence[str] = (), /, *, where: Where, file: Path | None = None, common: Common | None = None
) -> int:
    """Delete posts: only the queries of their words are ranked again.

    For example:
        aidos expose delete p17 p18 --in exposure
        aidos expose delete --file deleted.txt --in exposure

    Parameters
    ----------
    post_ids
        The ids of posts.
    file
        A file with one id a line, instead of or beside those named.
    """
    from aidos.exposure.queries.store import ExposureStore

    common = common or Common()
    named = [*post_ids, *(_lines(file) if file else [])]
    if not named:
        raise ParameterError("no post is named", hint="name post ids, or a file of them with --file")
    return _tell(ExposureStore.open(where.directory).delete(named), common)


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}", hint="name a file with one id a line") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text", hint="name a file in utf-8 with one id a line") from error


def _tell(change: Change, common: Common) -> int:
    from aidos.report.terminal import facts_table

    facts = asdict(change)
    if common.json:
        show_json(facts)
    else:
        show(facts_table([(name.replace("_", " "), value) for name, value in facts.items()]))
    return 0
