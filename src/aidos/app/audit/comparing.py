"""Two kept audits, compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aidos.app.audit.directory import read_finding
from aidos.rooms.audit.comparison import compare_audits
from aidos.rooms.audit.comparisonpage import ComparisonStory, change_words, topic_changes

__all__ = ["comparison_facts", "read_story"]


def read_story(before: Path, after: Path, *, command: str = "") -> ComparisonStory:
    """Both findings and what changed; InputError where they have other topics."""
    first, second = read_finding(before), read_finding(after)
    compared = compare_audits(first, second)
    return ComparisonStory(before=first, after=second, comparison=compared, command=command)


def comparison_facts(story: ComparisonStory) -> Mapping[str, Any]:
    """Topics and numbers, for machines."""
    compared = story.comparison
    return {
        "summary": change_words(story),
        "detected": {"before": story.before.detected, "after": story.after.detected},
        "rate": {
            "before": asdict(story.before.rate),
            "after": asdict(story.after.rate),
            "difference": compared.rate_difference,
            "low": compared.rate.low,
            "high": compared.rate.high,
        },
        "topics": [
            {
                "id": each.before.topic.id,
                "name": each.before.topic.name,
                "before": asdict(each.before.weight),
                "after": asdict(each.after.weight),
                "found": {"before": each.before.found, "after": each.after.found},
                "change": asdict(each.change),
                "changed": each.changed,
                "marked": each.marked,
            }
            for each in topic_changes(story)
        ],
    }
