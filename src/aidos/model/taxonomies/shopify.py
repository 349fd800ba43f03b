"""Shopify's product taxonomy: ``categories.txt`` (``{id} : {path}``) or the JSON file with verticals and categories.

The id of a topic is the last part of the published one, such as ``ap-2-1``. Every step of a path has a line of its own.
Attributes of products are left out: they are no topics.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aidos.core.taxonomy import Topic
from aidos.errors import InputError
from aidos.model.taxonomies.paths import STEP, split_path
from aidos.model.taxonomies.records import Draft
from aidos.model.taxonomies.text import numbered_lines, read_text

__all__ = ["is_shopify", "read_shopify"]

MARK = "/TaxonomyCategory/"
HINT = "take categories.txt or taxonomy.json as Shopify publishes them"


def is_shopify(head: str) -> bool:
    """Whether it begins as one of the two files."""
    return (head.lstrip().startswith("{") and '"verticals"' in head) or MARK in head


def read_shopify(path: Path, draft: Draft) -> None:
    """Put the topics of either file into the draft."""
    text = read_text(path)
    if text.lstrip().startswith("{"):
        _read_json(text, draft)
    else:
        _read_lines(path, draft)


def _read_lines(path: Path, draft: Draft) -> None:
    rows: list[tuple[int, str, list[str]]] = []
    for number, line in numbered_lines(path):
        if line.startswith("#"):
            continue
        published, parted, names = line.partition(" : ")
        if not parted or MARK not in published:
            draft.trouble("no-category", "the line is not of the form {id} : {path}", [number])
            continue
        rows.append((number, _short(published), split_path(names, slashed=False)))
    by_path = {STEP.join(steps): topic_id for _, topic_id, steps in rows}
    for number, topic_id, steps in rows:
        above = STEP.join(steps[:-1])
        draft.add(number, Topic(topic_id, by_path.get(above, above), steps[-1]))


def _read_json(text: str, draft: Draft) -> None:
    draft.place = "category"
    try:
        said = json.loads(text)
        categories = [category for vertical in said["verticals"] for category in vertical["categories"]]
    except json.JSONDecodeError as error:
        raise InputError(f"{draft.file}, line {error.lineno}: the file is no sound JSON", hint=HINT) from error
    except (KeyError, TypeError) as error:
        raise InputError(f"{draft.file} has no verticals with categories", hint=HINT) from error
    for number, category in enumerate(categories, start=1):
        if not _is_category(category):
            draft.trouble("no-category", "a category has no id or no name", [number])
            continue
        published, parent = category.get("id") or category["public_id"], category.get("parent_id") or ""
        draft.add(number, Topic(_short(published), _short(parent), category["name"].strip()))


def _is_category(category: Any) -> bool:
    """Whether it has the texts that are needed; files from before 2024 call the id otherwise."""
    if not isinstance(category, Mapping):
        return False
    needed = (category.get("id") or category.get("public_id"), category.get("name"), category.get("parent_id") or "")
    return all(isinstance(text, str) for text in needed)


def _short(published: str) -> str:
    return published.strip().rpartition("/")[2]
