"""Findings of audits as JSON: to keep them, to show them again, and to compare them later.

What is written holds queries and results of an account. It belongs in a file that only its owner can read; whoever
writes it sees to that.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from aidos.audit.findings import AuditFinding
from aidos.errors import InputError

__all__ = ["FORMAT", "finding_from_json", "finding_to_json"]

FORMAT = 1
"""Of what is written; another number is another shape."""


def finding_to_json(finding: AuditFinding) -> dict[str, Any]:
    """Everything in it, as values that JSON can hold."""
    return {"format": FORMAT, **_shape().dump_python(finding, mode="json")}


def finding_from_json(content: object, name: str) -> AuditFinding:
    """The finding that `finding_to_json` gave; InputError where it is damaged, which says so of ``name``."""
    if not isinstance(content, dict) or "format" not in content:
        raise InputError(f"{name} is no finding of an audit", hint="give a file that aidos audit learn wrote")
    if content["format"] != FORMAT:
        raise InputError(
            f"{name} is a finding in another format than this version of aidos reads",
            hint="audit the pairs again",
        )
    try:
        # By way of text, since only there a list may stand for a tuple and nothing else for anything else.
        finding = _shape().validate_json(json.dumps(content, allow_nan=False), strict=True)
    except ValidationError as error:
        places = [".".join(map(str, problem["loc"])) or "the whole" for problem in error.errors()]
        raise _damaged(name, f"{places[0]}{f' and {len(places) - 1} more' if places[1:] else ''}") from None
    except (ValueError, TypeError, RecursionError):
        raise _damaged(name, "numbers that are not finite, or no JSON") from None
    _check(finding, name)
    return finding


def _check(finding: AuditFinding, name: str) -> None:
    """What types do not say."""
    ids = finding.space.ids
    if not ids or len(set(ids)) < len(ids) or sorted(ids) != sorted(each.topic.id for each in finding.topics):
        raise _damaged(name, "topics that are not those of its space, each once")
    if not (0 < finding.level < 1 and 0 < finding.confidence < 1 and 0 <= finding.p_value <= 1):
        raise _damaged(name, "level, confidence or p-value out of their limits")
    if len(finding.drawn_rates) < 2:
        raise _damaged(name, "drawn_rates, too few to compare by")
    if finding.found and not finding.detected:
        raise _damaged(name, "topics found where nothing was detected")


def _damaged(name: str, where: str) -> InputError:
    return InputError(f"{name} is a damaged finding: {where}", hint="audit the pairs again")


@cache
def _shape() -> TypeAdapter[AuditFinding]:
    return TypeAdapter(AuditFinding)
