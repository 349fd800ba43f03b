"""The file of a topic model: words and numbers, and where the model comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.model.archive import read_archive, write_archive
from aidos.model.text.analyser import Analyser

__all__ = ["default_file", "read_model", "write_model"]

KIND = "an aidos topic model"
FORMAT = 1
"""Rises when the arrays or the facts change."""
ARRAYS = ("phi", "prior", "shares", "coherences")


def default_file() -> Path:
    """The model that comes with aidos; ``tools/train_risk.py`` makes it."""
    return Path(str(files("aidos.model.latent").joinpath("sample_world.npz")))


def write_model(  # noqa: PLR0913 (all that a model is)
    path: Path,
    *,
    words: Sequence[str],
    forms: Sequence[str],
    arrays: Mapping[str, NDArray[np.float32]],
    analyser: str,
    note: str,
) -> None:
    """Write a model to one file; words that people mostly write otherwise are told with their form."""
    written = {word: form for word, form in zip(words, forms, strict=bool(forms)) if word != form}
    facts = {"analyser": analyser, "forms": written, "note": note}
    write_archive(path, kind=KIND, version=FORMAT, facts=facts, words=words, arrays=arrays)


def read_model(path: Path) -> dict[str, Any]:
    """What a model is made from."""
    facts, words, arrays = read_archive(path, kind=KIND, version=FORMAT, arrays=ARRAYS)
    written = facts.get("forms", {})
    return {
        "words": words,
        **arrays,
        "analyser": Analyser.parse(str(facts["analyser"])),
        "forms": tuple(str(written.get(word, word)) for word in words),
        "note": str(facts["note"]),
    }
