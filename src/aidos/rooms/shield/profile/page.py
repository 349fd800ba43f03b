"""The page about one query: what of a private profile would be sent with it, what stays hidden, and why.

It is for the searcher and for nobody else: a finding, since it names what is hidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Facts, Figure, Page, Prose
from aidos.report.trees import MOST_LINES, TreeLine, tree
from aidos.report.values import Value
from aidos.rooms.shield.profile.asked import MUCH
from aidos.rooms.shield.profile.decision import Decision, SeedTopic

if TYPE_CHECKING:
    from aidos.rooms.shield.profile.explaining import Explained

__all__ = [
    "STANDING_COLUMNS",
    "answer_words",
    "help_words",
    "shield_page",
    "standing_facts",
    "standing_rows",
    "standing_table",
    "state_words",
    "told_table",
    "tree_block",
]

STANDING_COLUMNS = ("measure", "all your topics on it", "what is sent")
TOPIC_COLUMNS = ("topic", "what becomes of it", "sensitive", "share of yours", "gives away")
BLIND = (
    "Topics that you marked as sensitive, and all below them, play no part in what is sent: it would be the same if "
    "you did not hold them, and weights of marks do not count. So it cannot betray them, not even to somebody who "
    "knows how aidos decides and sees all that you ever send. What is hidden and not marked has nothing but marked "
    "topics below it. Power is how well a profile tells what you mean: 0 for none, 1 where one narrow topic is left; "
    "that of what is sent counts your unmarked topics alone."
)
HOW = (
    "Risk is how much of what you marked as sensitive an observer could conclude, who knows the public tree of topics "
    "and sees this profile: 0 is what she would expect of anybody, 1 is everything. Power is how well a profile tells "
    "what you mean: 0 for none, 1 where one narrow topic is left. A topic is hidden with all below it when its branch "
    "gives away more than the limit allows; the topic above it then stands for it. A topic that is not sensitive can "
    "be hidden too, where even its name would point to what is below. Who knows how aidos prunes can read that as well."
)
TOLD = (
    "An estimate, made on this machine: what somebody believes by Bayes' rule who sees your queries and no profile, "
    "and takes people to have some twenty interests that they ask about alike. Queries that are not remembered do not "
    "count. Words may be mapped to wrong topics, and who knows more believes more."
)
MOST_TOLD = 5
"""Marked topics that are shown; --json has all."""
RISK = "risk: what it gives away"
ANSWERS = {
    "sent": "these topics would be sent with the query",
    "distinct": "nothing is sent: the query needs no profile",
    "nothing-in-common": "nothing is sent: there is nothing to send",
    "all-hidden": "nothing is sent: everything would give too much away",
    "no-gain": "nothing is sent: nothing would be gained by it",
}


def shield_page(story: Explained) -> Page:
    """One page for one query."""
    return Page(
        title="What would leave the machine with this query",
        lead=f"\u201c{story.query}\u201d: {answer_words(story.decision)}.",
        chapters=(_what(story), _worth(story), _told(story), _limits(story)),
        source=story,
    )


def answer_words(decision: Decision) -> str:
    """The answer in a few words."""
    return ANSWERS[decision.outcome]


def state_words(decision: Decision, topic: SeedTopic) -> str:
    """What becomes of a topic: sent, hidden, or not sent because nothing is."""
    if topic.state == "sent":
        return "sent"
    weighed = decision.outcome in ("sent", "all-hidden")
    return ("hidden" if weighed else "not sent") + (", sensitive" if topic.sensitive else "")


def standing_facts(decision: Decision) -> dict[str, object]:
    """Power and utility before and after, and risk where there is a limit to it."""
    before, after = _standings(decision)
    return {"query_power": decision.query_power, "before": before, "after": after}


def standing_rows(story: Explained) -> list[tuple[Value, ...]]:
    """The same for people, a row a measure, without the dust of rounding (adding 0 makes -0 a plain one)."""
    standings = _standings(story.decision)
    before = " together with all shown before" if story.memory.shown else ""
    limited = {} if story.terms.is_blind else {"risk": f"{RISK}{before} (at most {story.terms.limit:g})"}
    labels = {
        **limited,
        "power": "power: how well it tells what you mean",
        "utility": f"gain over the query alone, which has {story.decision.query_power:.3f}",
    }
    return [(label, *(round(each[name], 3) + 0.0 for each in standings)) for name, label in labels.items()]


def standing_table(story: Explained) -> DataTable:
    """The rows as a table."""
    limit = "" if story.terms.is_blind else f" (limit of risk {story.terms.limit:g})"
    return DataTable(
        caption=f"Your topics on the query, before and after{limit}",
        columns=STANDING_COLUMNS,
        rows=tuple(standing_rows(story)),
        numeric=STANDING_COLUMNS[1:],
    )


def told_table(story: Explained) -> DataTable:
    """What the queries alone tell of marked topics, the most told first."""
    rows = tuple(
        (story.names[each.topic], *(f"{chance:.0%}" for chance in (each.of_anybody, each.before, each.now)))
        for each in story.told[:MOST_TOLD]
    )
    counted = f"{story.queries:,} remembered " + ("query" if story.queries == 1 else "queries")
    columns = ("marked topic", "of anybody", f"after {counted}", "and after this one")
    return DataTable(
        caption="What your queries alone let an observer believe of you, whatever is sent",
        columns=columns,
        rows=rows,
        numeric=columns[1:],
    )


def help_words(story: Explained) -> str:
    """What helps where the queries alone tell much; empty where they do not."""
    much = [story.names[each.topic] for each in story.told if each.now >= MUCH]
    if not much:
        return ""
    named = ", ".join(much[:3]) + (f" and {len(much) - 3} more" if len(much) > 3 else "")
    return (
        f"Your queries alone tell of {named}, and no profile changes that. It helps to ask in private (without your "
        "account, cookies and address, for instance by Tor), to ask through a mediator's shared account "
        "(aidos mediate), or not to ask."
    )


def tree_block(story: Explained) -> Figure | DataTable:
    """The topics as a picture with the table behind it; the table alone where there are too many to draw."""
    decision = story.decision
    table = DataTable(
        caption="Every topic, from the top down",
        columns=TOPIC_COLUMNS,
        rows=tuple(
            (
                story.names[each.topic],
                state_words(decision, each),
                each.sensitive,
                f"{each.preference:.0%}",
                round(each.cost, 3),
            )
            for each in decision.topics
        ),
        numeric=TOPIC_COLUMNS[3:],
    )
    if len(decision.topics) > MOST_LINES:
        return table
    lines = [
        TreeLine(
            name=story.names[each.topic],
            depth=each.depth,
            shown=each.state == "sent",
            sensitive=each.sensitive,
            word=state_words(decision, each),
        )
        for each in decision.topics
    ]
    return Figure(
        chart=tree("What is sent and what is hidden", lines),
        caption=f"{decision.reason[:1].upper()}{decision.reason[1:]}.",
        table=table,
    )


def _what(story: Explained) -> Chapter:
    decision = story.decision
    topics = [each for each in decision.topics if each.depth > 0]
    blocks: list[Block] = []
    if topics:
        kept = [each for each in topics if each.state == "hidden"]
        tiles = (
            ("topics sent", len(topics) - len(kept)),
            ("kept back", len(kept)),
            ("of these sensitive", sum(each.sensitive for each in kept)),
        )
        blocks += [Facts(tiles), tree_block(story)]
    else:
        blocks.append(Prose(f"{decision.reason[:1].upper()}{decision.reason[1:]}."))
    if story.remembered:
        blocks.append(Prose("This is remembered: what is sent here counts, and so does the query."))
    return Chapter(title="What is sent, and what is hidden", blocks=tuple(blocks))


def _told(story: Explained) -> Chapter:
    blocks: list[Block] = [told_table(story)] if story.told else []
    blocks.append(Prose(TOLD if story.told else "Neither this query nor a remembered one is about a topic you marked."))
    if words := help_words(story):
        blocks.append(Callout("caution", words))
    return Chapter(title="What your queries tell by themselves", blocks=tuple(blocks))


def _worth(story: Explained) -> Chapter:
    told = Prose(BLIND if story.terms.is_blind else HOW)
    return Chapter(title="What it gives away, and what it is worth", blocks=(standing_table(story), told))


def _limits(story: Explained) -> Chapter:
    words = story.terms.threat_model
    return Chapter(
        title="What this does not protect",
        blocks=(
            Callout("caution", f"{words[:1].upper()}{words[1:]}."),
            Prose(
                "Topics are found by the words of the query and of the tree of topics. A wrong topic is possible: the "
                "page shows what aidos believes, not what is true."
            ),
            Code(text=story.asked, language="command"),
        ),
    )


def _standings(decision: Decision) -> tuple[dict[str, float], dict[str, float]]:
    before, after = decision.before, decision.after
    gain = before.power - decision.query_power if len(decision.topics) > 1 else 0.0
    risks = ({}, {}) if decision.blind else ({"risk": before.risk}, {"risk": after.risk})
    return (
        {**risks[0], "power": before.power, "utility": gain},
        {**risks[1], "power": after.power, "utility": decision.utility},
    )
