"""The page of the mediator accounts: what hiding among others gives, what it costs, and for whom.

It tells of people only in numbers without names; each point of the scatter is still one person, so a page about real
data is a finding.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from aidos.report.charts import line, scatter
from aidos.report.drawing import Chart
from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Facts, Figure, Page, Prose, Source
from aidos.rooms.shield.mediator.measures import Floats, Measured

__all__ = ["MediatorStory", "Setting", "mediator_page", "setting_rows", "trade_chart"]

POINTS = 600
PARTS = 4
WORDS = {
    "entropy": "entropy",
    "overlap": "overlap",
    "coherence_loss": "coherence loss",
    "least_divergence": "min KL",
    "main_account": "main account",
    "relinked": "re-linked",
    "kendall_loss": "Ktau@100 loss",
    "jaccard_loss": "Jaccard@20 loss",
}
FORM = (
    "Re-linked is the share of a person's queries whose author an adversary names who knows other texts of everybody; "
    "main account is the share of people whose account with most of their queries she names first. Epsilon bounds how "
    "much the account of one query tells about who asked, beyond its topic: 0 is nothing, and without a bound it may "
    "tell all. Entropy says over how many accounts a person's queries are spread (natural logarithm); overlap is the "
    "largest share of them in one account; coherence loss is how much less a query fits the account than its owner's "
    "own history; min KL is how far the nearest account is from the person's topics, and does not say who is found."
)
LIMITS = (
    "What people type may name them in any account; accounts cannot change that, and the adversary's share by words "
    "alone says how often it does here. Another adversary may find more, with times or other texts. All but epsilon is "
    "measured on these data. In a pool's account min KL and main account speak of topics: who knows what somebody asks "
    "about knows her account, and so has everybody else's on that topic. The proxy itself sees who asks until it "
    "forgets."
)
NO_BOUND = "no bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One way to assign, and what came out on average."""

    heuristic: str
    alpha: float | None
    """None where nothing is scattered."""
    epsilon: float | None
    """What the account of one query tells about who asked, at most; None: no bound."""
    means: dict[str, float]
    """By measure, as in WORDS; those that were not measured are absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediatorStory:
    """What the page is about."""

    lead: str
    settings: tuple[Setting, ...]
    chosen: Setting
    people: Measured
    """Of the chosen setting, person by person."""
    accounts: int
    reference: tuple[tuple[float, dict[str, float]], ...] = ()
    """What the thesis found, by alpha, where the page is about its experiment."""
    linked: Mapping[str, float] = field(default_factory=dict)
    """What the adversary names right without any accounts, by how she goes about it."""
    source: Source = None
    command: str = ""


def mediator_page(story: MediatorStory) -> Page:
    """One page for all of it."""
    return Page(
        title="Hiding among mediator accounts",
        lead=story.lead,
        chapters=(_trade(story), _people(story), _how(story)),
        source=story.source,
    )


def setting_rows(
    settings: Sequence[Setting], without: Collection[str] = ()
) -> tuple[tuple[str, ...], list[tuple[str | float | None, ...]]]:
    """Columns and rows of the table of settings, for the page and, without some measures, for the terminal."""
    measured = [name for name in WORDS if name not in without and any(name in each.means for each in settings)]
    rows: list[tuple[str | float | None, ...]] = [
        (
            each.heuristic,
            each.alpha,
            NO_BOUND if each.epsilon is None else round(each.epsilon, 2),
            *(_rounded(each.means.get(name)) for name in measured),
        )
        for each in settings
    ]
    return ("heuristic", "alpha", "epsilon", *(WORDS[name] for name in measured)), rows


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _trade(story: MediatorStory) -> Chapter:
    people = story.people
    columns, rows = setting_rows(story.settings)
    chart = trade_chart(story.settings)
    caption = _caption(story)
    blocks: list[Block] = [
        Facts((("people", len(people.objects)), ("queries", int(people.objects.sum())), ("accounts", story.accounts))),
        *([Facts(tuple((name, f"{share:.1%}") for name, share in story.linked.items()))] if story.linked else []),
        Figure(
            chart=chart,
            caption=caption,
            table=DataTable(caption="Every setting", columns=columns, rows=tuple(rows), numeric=columns[1:]),
        ),
        Prose(FORM),
    ]
    if story.reference:
        blocks.append(_beside(story))
    return Chapter(title="What is gained and what it costs", blocks=tuple(blocks))


def trade_chart(settings: Sequence[Setting]) -> Chart:
    """Utility against what the adversary finds, or against entropy where there are no texts to look for."""
    told = all(np.isfinite(each.means.get("relinked", np.nan)) for each in settings)
    name, title = ("relinked", "re-linked queries") if told else ("entropy", "entropy")
    series: dict[str, list[tuple[float, float]]] = {}
    for each in settings:
        series.setdefault(each.heuristic, []).append((each.means[name], each.means["coherence_loss"]))
    return line("Privacy and utility", series, x_title=title, y_title="coherence loss")


def _caption(story: MediatorStory) -> str:
    name, word = ("relinked", "re-linked queries") if "relinked" in story.chosen.means else ("entropy", "entropy")
    ordered = sorted(story.settings, key=lambda each: each.means[name])
    low, high = ordered[0], ordered[-1]
    return (
        f"The share of {word} goes from {low.means[name]:.2f} ({_named(low)}) to {high.means[name]:.2f} "
        f"({_named(high)}), while coherence loss goes from {low.means['coherence_loss']:.3f} to "
        f"{high.means['coherence_loss']:.3f}."
    )


def _named(setting: Setting) -> str:
    return setting.heuristic if setting.alpha is None else f"{setting.heuristic}, alpha {setting.alpha:g}"


def _beside(story: MediatorStory) -> DataTable:
    """The table of the thesis, and what was found with its heuristic."""
    found: dict[float | None, dict[str, float]] = {
        each.alpha: each.means for each in story.settings if each.heuristic == "original"
    }
    names = [name for name in WORDS if any(name in means for _, means in story.reference)]
    columns = ("alpha", *(f"{WORDS[name]}, {who}" for name in names for who in ("thesis", "here")))
    rows = tuple(
        (alpha, *(_rounded(means.get(name)) for name in names for means in (told, found.get(alpha, {}))))
        for alpha, told in story.reference
    )
    return DataTable(caption="The thesis' table, and the one found", columns=columns, rows=rows)


def _people(story: MediatorStory) -> Chapter:
    people, chosen = story.people, story.chosen
    shown = np.unique(np.linspace(0, len(people.entropy) - 1, min(POINTS, len(people.entropy))).astype(int))
    points = [(float(people.coherence_loss[each]), float(people.entropy[each])) for each in shown]
    chart = scatter("Person by person", points, x_title="coherence loss", y_title="entropy", log=False)
    edges = _quarters(people.entropy, people.objects.astype(np.float64), people.coherence_loss)
    words = f"With {_named(chosen)}"
    size = edges[0], edges[-1]
    return Chapter(
        title="For whom",
        blocks=(
            Figure(
                chart=chart,
                caption=f"{words}, half of the people have an entropy above {np.median(people.entropy):.2f}.",
                table=_parts("By profile size", "queries", people.objects.astype(np.float64), people),
            ),
            _parts("By profile size: the largest quarter last", "queries", people.objects.astype(np.float64), people),
            _parts("By diversity of topics: the most diverse quarter last", "diversity", people.diversity, people),
            Prose(
                f"People with the largest quarter of profiles have an entropy of {size[1][1]:.2f} on average; for the "
                f"smallest quarter it is {size[0][1]:.2f}. Who asks much and about much gains most; who asks about one "
                "thing cannot hide."
            ),
        ),
    )


def _quarters(values: Floats, by: Floats, losses: Floats) -> list[tuple[float, float, float]]:
    parts = np.array_split(np.argsort(by, kind="stable"), min(PARTS, len(by)))
    return [(float(by[part].mean()), float(values[part].mean()), float(losses[part].mean())) for part in parts]


def _parts(title: str, name: str, by: Floats, people: Measured) -> DataTable:
    rows = tuple(
        (number, round(middle, 2), round(entropy, 3), round(loss, 3))
        for number, (middle, entropy, loss) in enumerate(_quarters(people.entropy, by, people.coherence_loss), start=1)
    )
    return DataTable(caption=title, columns=("quarter", f"mean {name}", "entropy", "coherence loss"), rows=rows)


def _how(story: MediatorStory) -> Chapter:
    blocks: list[Block] = [Callout("caution", LIMITS)]
    if story.command:
        blocks.append(Code(text=story.command, language="command"))
    return Chapter(title="What is not promised", blocks=tuple(blocks))
