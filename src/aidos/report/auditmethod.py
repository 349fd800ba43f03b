"""The method card of an audit: the model in words, the terms, what is taken for granted, and what is not shown."""

from __future__ import annotations

from collections.abc import Iterator

from aidos.audit.findings import AuditFinding
from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Prose

__all__ = ["method_chapter"]

FORMULA = (
    "Each search is one of two kinds. Where the service does not personalise, the list with the account is the list "
    "without it, shaken a little: results that stood higher tend to stand higher. Where it does, each result has a "
    "score: what its topics weigh for you, less its rank without the account; results with higher scores tend to stand "
    "higher. Which searches are of which kind, the weights of the topics and the share of personalised searches are "
    "learned together, so that they explain all lists best. Weights are held near 0 where the lists say little."
)
ASSUMPTIONS = (
    "It takes for granted that a result is about the topics that its title and text speak of, that one profile holds "
    "for all searches, and that both lists of a search were fetched at the same moment and place."
)
NOT_SHOWN = (
    "Why the service weighs a topic, where it knows it from, and what it does with it elsewhere cannot be seen in "
    "result lists. A topic may stand for another that goes along with it. What is not found may still be there."
)
CITATION = (
    "The model is Latent Topic Personalization (LTP): Majumder and Shrivastava, Know your personalization: learning "
    "topic level personalization in online services, WWW 2013. Tests, intervals and the noise floor are additions of "
    "aidos."
)
METHODS = {
    "learning": "LTP-EM: how much scores count, and how much lists shake, are learned too",
    "inference": "LTP-INF: how much scores count, and how much lists shake, are fixed as in the paper",
}


def method_chapter(finding: AuditFinding, *, command: str = "", recipe: str = "") -> Chapter:
    """How it was found."""
    terms = DataTable(caption="The terms of this audit", columns=("what", "this audit"), rows=tuple(_terms(finding)))
    blocks: list[Block] = [Prose(FORMULA), terms, Callout("caution", f"{ASSUMPTIONS}\n\n{NOT_SHOWN}"), Prose(CITATION)]
    if command:
        blocks.append(Code(text=command, language="command"))
    if recipe:
        blocks.append(Code(text=recipe, language="recipe"))
    return Chapter(title="How it was found", blocks=tuple(blocks))


def _terms(finding: AuditFinding) -> Iterator[tuple[str, str]]:
    level = f"at most {100 * finding.level:.3g} of 100"
    yield "topics", f"{len(finding.topics):,}, {finding.space.source}"
    yield "method", METHODS[finding.method]
    yield "false alarms", f"where nothing is personalised, {level} audits say otherwise"
    yield "false topics", f"of the topics named, {level} are expected to be chance"
    yield (
        "compared with",
        "a second list without an account"
        if finding.controlled
        else "lists shaken at random, since few searches have a second list without an account",
    )
    yield "verdict", f"{'detected' if finding.detected else 'not detected'}, p = {finding.p_value:.2g}"
    yield "intervals", f"hold {finding.confidence:.0%}, by drawing the searches again with replacement"
    yield "scores against ranks", f"{finding.mix.value:.2f} ({finding.mix.low:.2f} to {finding.mix.high:.2f})"
    steady = finding.concentration
    yield "how steady lists are", f"{steady.value:.2f} ({steady.low:.2f} to {steady.high:.2f})"
