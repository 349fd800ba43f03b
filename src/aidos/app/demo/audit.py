"""The demo's chapter on hidden profiles: one account of the sample world, audited, shielded, and audited again."""

from __future__ import annotations

from aidos.app.demo.chapter import Outcome, Workplace
from aidos.report.page import Block, Callout, Chapter, Code, Facts, Prose

__all__ = ["audit_chapter"]

QUERIES, DRAWS = 300, 30
"""Searches of each audit, and draws for its intervals: fewer than usual, for nobody waits for a demo."""
LIMITS = (
    "The service of the sample world believes what it is sent and remembers nothing. A real one may keep what it "
    "knows, and a change of its own looks the same as an effect of the shield."
)


def audit_chapter(place: Workplace) -> Outcome:
    """Learn what the sample world's service holds of an account, hide what is sensitive, and look again."""
    from aidos.app.audit.rehearsal import rehearse_loop
    from aidos.rooms.audit.comparisonpage import change_figure
    from aidos.rooms.audit.page import evidence_lists
    from aidos.rooms.audit.profileaudit import ProfileAudit
    from aidos.rooms.audit.wording import verdict_words

    audit = ProfileAudit(draws=DRAWS)
    done = rehearse_loop(place.world, None, queries=QUERIES, progress=place.progress, audit=audit)
    before, after = done.outcome.before, done.outcome.after
    blocks: list[Block] = [
        Prose(
            "A search service that knows an account shows it other results than a stranger. From lists with and "
            "without the account aidos learns which topics the service goes by, and how surely. Here is a made-up "
            f"account: {verdict_words(before)} The truth is known here: {done.happened()[0]}"
        ),
        Facts(
            (
                ("searches", before.queries),
                ("personalised before", f"{before.rate.value:.0%}" if before.detected else "not detected"),
                ("topics found before", len(before.found)),
                ("topics found after", len(after.found)),
            )
        ),
    ]
    blocks += [evidence_lists(before, each) for each in before.evidence[:1]]
    blocks += [
        Prose(" ".join(done.happened()[1:])),
        change_figure(done.story),
        Callout("caution", LIMITS),
        Code(text=done.command, language="command"),
    ]
    chapter = Chapter(title="What profile does a service hold of you?", blocks=tuple(blocks))
    return Outcome(chapter, "hidden profiles", f"{len(before.found)} topics found, {len(after.found)} after shielding")
