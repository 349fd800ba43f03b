"""Diagnoses, ICD-10-CM, from the package ``simple-icd-10-cm``, which carries the public files of one year.

Chapters, blocks, categories and codes are the topics, terms that a code includes are its words. A block of one category
has the same code and is one topic with it. Every topic is about health, so that all chapters are sensitive.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from aidos.core.taxonomy import Topic
from aidos.errors import MissingExtraError
from aidos.model.taxonomies.records import Draft

__all__ = ["ICD", "read_icd"]

ICD = "icd-10-cm"
"""What the source is called in place of a file."""


def read_icd(path: Path, draft: Draft) -> None:  # noqa: ARG001 (the source is a package, not a file)
    """Put the topics of the package into the draft."""
    codes = _package()
    draft.place = "code"
    chapters = [code for code in codes.get_all_codes() if codes.is_chapter(code)]
    stack = [(code, "") for code in reversed(chapters)]
    while stack:
        code, parent = stack.pop()
        words = tuple(" ".join(term.split()).replace(" ", "_") for term in codes.get_inclusion_term(code))
        name = " ".join(codes.get_description(code).split())
        draft.add(len(draft.topics) + 1, Topic(code, parent, name, "" if parent else "health", "", words))
        stack.extend((child, code) for child in reversed(codes.get_children(code)))


def _package() -> Any:
    try:
        with warnings.catch_warnings():
            # It reads its files when it is imported, in a way that Python 3.11 and 3.12 call outdated.
            warnings.simplefilter("ignore")
            return import_module("simple_icd_10_cm")
    except ImportError as error:
        raise MissingExtraError("the taxonomy of diagnoses", extra="taxonomies") from error
