"""Learning which queries are critical, from the files an operator has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedEngine
from aidos.engine.inputs import open_input
from aidos.errors import InputError
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.model.sensitivity import TopicalSensitivity
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.features import FEATURES
from aidos.rooms.exposure.critical.lambdarank import TREES_KIND, TrainedTrees, TreeModel, train_trees
from aidos.rooms.exposure.critical.learner import Trained, train
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.targets import count_words, sensitivity_scores
from aidos.rooms.exposure.critical.teaching import Rows, Signals, Teaching, texts_of
from aidos.rooms.exposure.queries.store import ExposureStore

__all__ = ["Learner", "SignalFiles", "load_ranker", "read_deletions", "train_by_signals", "train_by_topics"]

Learner = Literal["linear", "lambdarank"]

Floats = NDArray[np.float64]
OWN = "the community's own signals"
BEGINNING = 200
"""Characters of a model's file within which it says what it is."""
WANTED = "a CSV or Parquet file with the columns post_id and deleted (true or false)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalFiles:
    """Where signals are read from."""

    deletions: Path
    anonymous: Sequence[str]
    open: Sequence[str]
    """Posts of an open community; those of the directory where there are none."""
    options: ReadOptions


def train_by_signals(
    store: ExposureStore,
    files: SignalFiles,
    engine: EmbeddedEngine,
    *,
    learner: Learner,
    seed: int,
    progress: Progress,
) -> Trained | TrainedTrees:
    """From deletions and from how people talk without their name."""
    deletions = read_deletions(files.deletions)
    counts = _counts(engine, files.anonymous, files.options, store)
    ours = _counts(engine, files.open, files.options, store) if files.open else _own_counts(store)
    signals = Signals(deletions=deletions, anonymous_counts=counts, open_counts=ours)
    teaching = Teaching(seed=seed)
    rows = teaching.rows(store, progress=progress)
    targets = teaching.targets(store, rows.exposures, signals)
    about = "deletions of posts, and words of an anonymous and an open community"
    return _train(rows, targets, learner, seed, about)


def train_by_topics(store: ExposureStore, *, learner: Learner, seed: int, progress: Progress) -> Trained | TrainedTrees:
    """From the sensitivity of topics alone."""
    rows = Teaching(seed=seed).rows(store, progress=progress)
    sensitivity = TopicalSensitivity.default(analyser=Analyser.parse(store.settings.analyser))
    targets = sensitivity_scores(store, rows.exposures, sensitivity)
    # The target is a feature as well: it would be learned by heart, and nothing else.
    rows.matrix[:, FEATURES.index("topical_sensitivity")] = 0.0
    return _train(rows, targets, learner, seed, "the sensitivity of topics")


def read_deletions(path: Path) -> dict[str, bool]:
    """Which posts were deleted, and which were not."""
    try:
        with open_input(path) as file:
            table = pq.read_table(file) if path.suffix == ".parquet" else pacsv.read_csv(file)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} cannot be read", hint=f"give {WANTED}") from error
    if missing := {"post_id", "deleted"} - set(table.column_names):
        raise InputError(f"{path} has no column {' and no column '.join(sorted(missing))}", hint=f"give {WANTED}")
    try:
        marks = table.column("deleted").cast(pa.bool_()).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{path}: the column deleted is neither true nor false everywhere", hint="mend it") from error
    names = table.column("post_id").cast(pa.string()).to_pylist()
    return {str(name): bool(mark) for name, mark in zip(names, marks, strict=True) if mark is not None}


def load_ranker(path: Path | None) -> CriticalityModel | TreeModel:
    """The ranker of a file, or the one that comes with aidos."""
    if path is None:
        return CriticalityModel.default()
    with open_input(path) as file:
        trees = TREES_KIND.encode() in file.read(BEGINNING)
    return TreeModel.load(path) if trees else CriticalityModel.load(path)


def _train(rows: Rows, targets: Floats, learner: Learner, seed: int, about: str) -> Trained | TrainedTrees:
    members = rows.exposures.members.astype(np.int64)
    if learner == "lambdarank":
        return train_trees(members, rows.matrix, targets, seed=seed, about=about, trained_on=OWN)
    return train(members, rows.matrix, targets, seed=seed, about=about, trained_on=OWN)


def _counts(engine: EmbeddedEngine, files: Sequence[str], options: ReadOptions, store: ExposureStore) -> dict[str, int]:
    posts = read_files(engine, files, options).table
    if "text" not in posts.columns:
        raise InputError("the files hold no posts: there are no texts in them", hint="see what is in them: aidos check")
    return count_words(texts_of(posts.fetch()), Analyser.parse(store.settings.analyser))


def _own_counts(store: ExposureStore) -> dict[str, int]:
    """Of the posts of the directory, when it was computed."""
    counts = store.reference.term_counts
    return dict(zip(store.words(np.arange(len(counts))), counts.tolist(), strict=True))
