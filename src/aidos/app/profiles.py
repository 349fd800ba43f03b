"""Profiles for the commands: what is in one, as a tree and as facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aidos.model.taxonomies.opened import OpenedTaxonomy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aidos.core.profile import KeptProfile

__all__ = ["profile_facts", "profile_lines"]


def profile_lines(kept: KeptProfile, taxonomy: OpenedTaxonomy, depth: int | None = None) -> Iterator[str]:
    """The held topics drawn as a tree, with documents at and below each; sensitive and hidden ones are marked."""
    topics, tree = taxonomy.imported.taxonomy, taxonomy.tree
    totals = _totals(kept, taxonomy)
    stack = [(topics.root, "", "", 0, False)]
    while stack:
        here, own, below, level, covered = stack.pop()
        covered = covered or here in kept.sensitivities
        yield f"{own}{topics[here].name}  {_counted(totals.get(tree.places[here], 0.0))}{_marks(kept, here, covered)}"
        if level == depth:
            continue
        held = [child for child in topics.children.get(here, ()) if tree.places[child] in totals]
        for at, child in reversed(list(enumerate(held))):
            branch, rest = ("└── ", "    ") if at == len(held) - 1 else ("├── ", "│   ")
            stack.append((child, below + branch, below + rest, level + 1, covered))


def profile_facts(kept: KeptProfile, taxonomy: OpenedTaxonomy) -> dict[str, object]:
    """All that the file holds, and every held topic with its name and what is at and below it."""
    from aidos.model.profilefile import to_json

    topics, tree = taxonomy.imported.taxonomy, taxonomy.tree
    held = [
        {
            "id": tree.ids[place],
            "name": topics[tree.ids[place]].name,
            "parent": topics[tree.ids[place]].parent,
            "documents": kept.supports.get(tree.ids[place], 0.0),
            "documents_at_and_below": total,
            "sensitivity": kept.sensitivities.get(tree.ids[place]),
            "category": topics.sensitive_category(tree.ids[place]),
            "hidden": tree.ids[place] in kept.hidden,
        }
        for place, total in sorted(_totals(kept, taxonomy).items())
    ]
    return {**to_json(kept), "topics": held}


def _totals(kept: KeptProfile, taxonomy: OpenedTaxonomy) -> Mapping[int, float]:
    """Documents at and below each held topic, and marked topics that hold none, by place."""
    tree = taxonomy.tree
    totals: dict[int, float] = {}
    for topic in (*kept.supports, *kept.sensitivities, *kept.hidden):
        totals.update(dict.fromkeys(tree.with_paths([tree.place(topic)]).tolist(), 0.0))
    for topic, documents in kept.supports.items():
        for place in tree.with_paths([tree.place(topic)]).tolist():
            totals[place] += documents
    return totals


def _counted(documents: float) -> str:
    return f"{documents:,.0f}" if documents.is_integer() else f"{documents:,.4g}"


def _marks(kept: KeptProfile, topic: str, covered: bool) -> str:  # noqa: FBT001 (one of two states of a line)
    marks = []
    if topic in kept.sensitivities:
        marks.append(f"sensitive, weight {kept.sensitivities[topic]:g}")
    elif covered:
        marks.append("sensitive")
    if topic in kept.hidden:
        marks.append("hidden once")
    elif topic in kept.shown:
        marks.append("shown once")
    return f"  [{'; '.join(marks)}]" if marks else ""
