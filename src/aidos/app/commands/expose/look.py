"""`aidos expose member`, `query` and `draft`: look-ups in a directory that was computed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.commands.expose.telling import Where, open_store
from aidos.app.console import Common, show, show_json, tell
from aidos.app.standardinput import PrivateName, PrivateText, read_text
from aidos.errors import ParameterError

__all__ = ["draft", "member", "query"]

SHIPPED = "ranked by the model that comes along, trained on the sample world"


def member(
    author_id: PrivateName,
    /,
    *,
    where: Where,
    top: int = 20,
    raw: bool = False,
    model: Path | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """Tell a member by which queries her posts are found, the most critical first.

    What is shown is for her alone: a finding. The page is written so that
    only its owner can read it.

    For example:
        aidos expose member ID --in exposure
        aidos expose member - --in exposure -o page.html < id.txt
        aidos expose member ID --in exposure --raw --top 100 --json

    Parameters
    ----------
    author_id
        The member, as the posts name her, or - for the standard input.
    top
        How many queries are shown; 20 unless given.
    raw
        Also queries that cleaning leaves out: numbers, names, partial matches.
    model
        A model that `aidos expose train` wrote; the one trained on the sample world unless given.
    output
        The member's page.
    """
    from aidos.app.exposing import MEMBER_COLUMNS, critical_rows, critical_values, look_up_member
    from aidos.app.training import load_ranker
    from aidos.report.terminal import rows_table

    common = common or Common()
    if top < 1:
        raise ParameterError(f"--top must be at least 1, got {top}")
    store = open_store(where, common)
    command = f"aidos expose member {shlex.quote(author_id)} --in {where.directory}"
    story = look_up_member(store, author_id, load_ranker(model), top=top, raw=raw, command=command)
    if output is not None:
        from aidos.engine.files import write_text
        from aidos.report.page import render
        from aidos.rooms.exposure.memberpage import member_page

        write_text(output, render(member_page(story)), private=True)
    if common.json:
        show_json(critical_values(story, output))
    else:
        title = f"{story.queries:,} queries return {story.posts:,} posts; the most critical:"
        show(rows_table(MEMBER_COLUMNS, critical_rows(story), title=title))
        if model is None:
            tell(SHIPPED, quiet=common.quiet)
    return 0


def query(text: PrivateText, /, *, where: Where, common: Common | None = None) -> int:
    """Show which posts and members a query returns.

    A query has one word or two. Posts that hold only one of two words are
    partial matches.

    For example:
        aidos expose query - --in exposure
        aidos expose query "debt lawyer" --in exposure --json

    Parameters
    ----------
    text
        The query, or - for the standard input.
    """
    from aidos.app.exposing import QUERY_COLUMNS, answer_rows
    from aidos.report.terminal import rows_table

    common = common or Common()
    store = open_store(where, common)
    answer = store.answer(text)
    rows = answer_rows(store, answer)
    if common.json:
        told = [dict(zip(QUERY_COLUMNS, row, strict=True)) for row in rows]
        show_json({"documents": answer.documents, "unknown_words": len(answer.unknown), "results": told})
        return 0
    if answer.unknown:
        tell(f"no post has ever held {len(answer.unknown)} of the words", quiet=common.quiet)
    show(rows_table(QUERY_COLUMNS, rows, title=_holders(answer.documents)))
    return 0


def _holders(documents: int) -> str:
    return "1 post holds the whole query" if documents == 1 else f"{documents:,} posts hold the whole query"


def draft(
    text: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    where: Where,
    author: Annotated[PrivateName | None, Parameter(name=["--as"])] = None,
    top: int = 20,
    model: Path | None = None,
    common: Common | None = None,
) -> int:
    """Tell which queries would return a draft, before it is posted.

    Nothing is stored. Give - to read the draft from the standard input, so
    that it is not seen among processes and in the history of the shell.

    For example:
        aidos expose draft - --in exposure < draft.txt
        aidos expose draft - --as ID --in exposure

    Parameters
    ----------
    text
        The draft, or - for the standard input.
    author
        The member who would post it, or - for a line of standard input, before the draft; somebody new unless given.
    top
        How many queries are shown; 20 unless given.
    model
        A model that `aidos expose train` wrote; the one trained on the sample world unless given.
    """
    from aidos.app.exposing import DRAFT_COLUMNS, look_up_draft
    from aidos.app.training import load_ranker
    from aidos.report.terminal import rows_table

    common = common or Common()
    if top < 1:
        raise ParameterError(f"--top must be at least 1, got {top}")
    store = open_store(where, common)
    words = read_text(text, "the draft")  # after the author, who is a line of its own
    found = look_up_draft(store, words, author, load_ranker(model), top=top)
    rows = found.rows
    if common.json:
        told = [dict(zip(DRAFT_COLUMNS, row, strict=True)) for row in rows]
        show_json({"queries": found.queries, "whole": found.whole, "certain": found.certain, "most_critical": told})
        return 0
    title = f"{found.queries:,} queries would return it, {found.whole:,} of them with all their words in it"
    show(rows_table(DRAFT_COLUMNS, rows, title=title))
    if model is None:
        tell(SHIPPED, quiet=common.quiet)
    return 0
