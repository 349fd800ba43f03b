"""`aidos shield explain`: what would be sent with a query, what is hidden, and why."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, remark_if_slow, show, show_json, tell
from aidos.app.shieldterms import ShieldTerms, WhoseProfile
from aidos.app.standardinput import PrivateText

if TYPE_CHECKING:
    from aidos.rooms.shield.profile.page import ShieldStory

__all__ = ["explain"]


def explain(
    query: PrivateText,
    /,
    *,
    whose: WhoseProfile | None = None,
    terms: ShieldTerms | None = None,
    remember: Annotated[bool, Parameter(negative="--no-remember")] = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """Explain what of your profile would be sent with a query, what is hidden, and why.

    Nothing is sent. Topics that the query is about are shown as a tree; risk
    says what a profile gives away of what you marked as sensitive, power how
    well it tells what you mean. One query is covered: the query itself is not
    protected, and this is not differential privacy. The page is written so
    that only its owner can read it. Give - to read the query from the standard
    input: arguments are seen in the list of processes and the shell's history.

    For example:
        aidos shield explain -
        aidos shield explain - --profile profile.json --risk-limit 0.02 < query.txt
        aidos shield explain - --remember -o page.html
        aidos shield explain "patch" --algorithm exact --json

    Parameters
    ----------
    query
        What you would search for, or - for the standard input.
    remember
        Note in the profile what is hidden and sent: later queries do not show the one and count the other.
    output
        A page about it, with the tree drawn.
    """
    from aidos.app.shielding import open_shield, tell_story

    common = common or Common()
    whose, terms = whose or WhoseProfile(), terms or ShieldTerms()
    with remark_if_slow("indexing topics; aidos taxonomy import --index keeps the index", quiet=common.quiet):
        shield = open_shield(whose, terms)
    decision = shield.decide(query)
    command = _command(query, whose, terms)
    story = tell_story(shield, query, decision, remembered=remember, command=command)
    if output is not None:
        from aidos.engine.files import write_text
        from aidos.report.page import render
        from aidos.rooms.shield.profile.page import shield_page

        write_text(output, render(shield_page(story)), private=True)
    if remember and story.is_news:
        from aidos.model.profilefile import write_profile

        opened = shield.opened
        kept = opened.kept.remembering(opened.taxonomy.tree, decision.remembered(opened.kept.memory))
        write_profile(opened.path, kept)
    if shield.remark:
        tell(shield.remark, quiet=common.quiet)
    return _tell(story, output, common)


def _command(query: str, whose: WhoseProfile, terms: ShieldTerms) -> str:
    """What to type to see it again."""
    words = ["aidos", "shield", "explain", query]
    for options in (whose, terms):
        given = {each.name: getattr(options, each.name) for each in fields(options)}
        for name, value in given.items():
            if value is not None:
                words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _tell(story: ShieldStory, output: Path | None, common: Common) -> int:
    from rich.text import Text

    from aidos.app.shielding import decision_facts, decision_lines
    from aidos.report.terminal import facts_table, rows_table
    from aidos.report.values import show as plain
    from aidos.rooms.shield.profile.page import STANDING_COLUMNS, answer_words, no_gain_words, standing_rows

    if common.json:
        show_json(decision_facts(story))
        return 0
    decision = story.decision
    show(facts_table([("query", story.query), ("answer", answer_words(decision)), ("why", decision.reason)]))
    if len(decision.topics) > 1:
        lines = "\n".join(map(plain, decision_lines(story)))
        show(Text(f"\n{lines}\n", no_wrap=True, overflow="ignore"))
        show(rows_table(STANDING_COLUMNS, standing_rows(story)))
    if words := no_gain_words(decision):
        tell(words[:1].lower() + words[1:].rstrip("."), quiet=common.quiet)
    if story.is_news:
        kept = "remembered: later queries do not show what is hidden, and what is sent counts"
        tell(kept if story.remembered else "not remembered: see --remember", quiet=common.quiet)
    tell(story.threat_model, quiet=common.quiet)
    if output is not None:
        show(str(output))
    return 0
