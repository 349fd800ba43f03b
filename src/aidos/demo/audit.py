"""The demo's chapter on hidden profiles: one account of the sample world, audited, shielded, and audited again."""

from __future__ import annotations

from aidos.demo.chapter import Outcome, Workplace
from aidos.jobs.desk import Desk
from aidos.report.page import Block, Callout, Chapter, Code, Facts, Prose

__all__ = ["audit_chapter"]

QUERIES = 300
"""Searches of each audit."""
LIMITS = (
    "The service of the sample world believes what it is sent and remembers nothing. A real one may keep what it "
    "knows, and a change of its own looks the same as an effect of the shield."
)


def audit_chapter(place: Workplace) -> Outcome:
    """Learn what the sample world's service holds of an account, hide what is sensitive, and look again."""
    from aidos.rooms.audit.page import evidence_lists
    from aidos.studies.audit.rehearsal import RehearseAudit

    world = place.world
    command = f"aidos audit rehearse -o rehearsal --size {world.size} --seed {world.seed}"
    asked = RehearseAudit(size=str(world.size), seed=world.seed, queries=QUERIES)
    done = asked.run(Desk(progress=place.progress))
    before, after = done.value.before, done.value.after
    held, *between = done.happened
    blocks: list[Block] = [
        Prose(
            "A search service that knows an account shows it other results than a stranger. From lists with and "
            "without the account aidos learns which topics the service goes by, and how surely. Here is a made-up "
            f"account: {done.before.verdict} The truth is known here: {held}"
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
        Prose(" ".join(between)),
        done.comparison.figure(),
        Callout("caution", LIMITS),
        Code(text=command, language="command"),
    ]
    chapter = Chapter(title="What profile does a service hold of you?", blocks=tuple(blocks))
    return Outcome(chapter, "hidden profiles", f"{len(before.found)} topics found, {len(after.found)} after shielding")
