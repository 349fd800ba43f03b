"""The job that learns which queries are critical, from the files an operator has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from aidos.errors import InputError, ParameterError, WrongParameter
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Section, Short
from aidos.jobs.options import Drawn
from aidos.rooms.exposure.computing import InExposure

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from aidos.engine.embedded import EmbeddedEngine
    from aidos.report.page import Block
    from aidos.rooms.exposure.critical.lambdarank import TrainedTrees
    from aidos.rooms.exposure.critical.learner import Trained
    from aidos.rooms.exposure.critical.teaching import Rows
    from aidos.rooms.exposure.queries.store import ExposureStore

__all__ = ["TrainRanker", "TrainedRanker", "read_deletions"]

OWN = "the community's own signals"
WANTED = "a CSV or Parquet file with the columns post_id and deleted (true or false)"
WEIGHTS = 12
BASELINES = 8
"""How many single features are shown beside the learned ranker."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TrainedRanker(Finding):
    """A model, and how well it did on members it had not seen."""

    about: str = "those who wrote the posts"
    value: Trained | TrainedTrees
    output: Path
    """The model's file."""

    def facts(self) -> Mapping[str, object]:
        """What weighs most, and the agreement with the target of the model and of every single feature."""
        told = [asdict(line) for line in self.value.validation.table()]
        return {"output": str(self.output), "weights": dict(self._weights()), "agreement": told}

    def table(self) -> pa.Table:
        """A row for each ranker: the learned one, and every single feature."""
        import pyarrow as pa

        return pa.Table.from_pylist([asdict(line) for line in self.value.validation.table()])

    def blocks(self) -> Sequence[Block]:
        """How well it orders pairs, and what weighs most."""
        from aidos.report.page import DataTable

        columns = ("ranker", "agreement", "standard error")
        lines = self.value.validation.table()[: BASELINES + 1]
        rows = tuple((line.ranker.replace("_", " "), round(line.agreement, 3), round(line.error, 3)) for line in lines)
        title = "pairs in the order of the target, members not taught from"
        blocks = [DataTable(caption=title, columns=columns, rows=rows)]
        if weights := self._weights():
            shown = tuple((name.replace("_", " "), round(weight, 3)) for name, weight in weights)
            blocks.append(DataTable(caption="what weighs most", columns=("feature", "weight"), rows=shown))
        return blocks

    def remarks(self) -> Sequence[str]:
        """What the file holds."""
        return (f"{self.output} holds the model: numbers for features, and no words",)

    def _weights(self) -> list[tuple[str, float]]:
        from aidos.rooms.exposure.critical.learner import Trained

        return self.value.model.importance()[:WEIGHTS] if isinstance(self.value, Trained) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainRanker(InExposure, Drawn):
    """Learn which queries are critical from what the operator knows.

    The signals are which posts were deleted later, and how people talk where
    nobody knows them. Without signals, learn from the sensitivity of topics:
    --target topics. The model holds a weight for each feature, and no words.

    For example:
        aidos expose train --in exposure --deletions deleted.csv --anonymous anon.parquet -o model.json
        aidos expose train --in exposure --target topics -o model.json
        aidos expose member ID --in exposure --model model.json
    """

    output: Annotated[Path, Short("-o")]
    """The model's file."""
    deletions: Path | None = None
    """A CSV or Parquet file with post_id and deleted (true or false); posts not listed are unknown."""
    anonymous: tuple[str, ...] = ()
    """Posts of an anonymous community: files or glob patterns; may be repeated."""
    open_posts: Annotated[tuple[str, ...], Named("--open")] = ()
    """Posts of an open community to compare with; those of the directory if unset."""
    target: str = "signals"
    """What is learned: signals, or topics for the sensitivity of topics."""
    learner: Literal["linear", "lambdarank"] = "linear"
    """How: linear, with weights that can be read, or lambdarank, trees that need more data."""
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def __post_init__(self) -> None:
        if self.target not in {"signals", "topics"}:
            wrong = WrongParameter("", f"must be signals or topics, got {self.target}", "target")
            raise ParameterError(str(wrong), parameters=[wrong])
        if self.target == "signals" and (self.deletions is None or not self.anonymous):
            raise ParameterError(
                "signals are missing: which posts were deleted, and posts of an anonymous community",
                hint="give --deletions and --anonymous, or learn from topics with --target topics",
            )

    def run(self, desk: Desk) -> TrainedRanker:
        """Learn, and write the model."""
        store = self.store(desk)
        if self.deletions is None or self.target == "topics":
            trained = self._by_topics(store, desk)
        else:
            trained = self._by_signals(store, read_deletions(self.deletions), desk)
        trained.model.save(self.output)
        return TrainedRanker(value=trained, output=self.output)

    def _by_signals(self, store: ExposureStore, deletions: Mapping[str, bool], desk: Desk) -> Trained | TrainedTrees:
        """From deletions and from how people talk without their name."""
        from aidos.rooms.exposure.critical.teaching import Signals, Teaching

        with desk.engine() as engine:
            counts = self._counts(engine, self.anonymous, store)
            ours = self._counts(engine, self.open_posts, store) if self.open_posts else _own_counts(store)
        signals = Signals(deletions=deletions, anonymous_counts=counts, open_counts=ours)
        teaching = Teaching(seed=self.seed)
        rows = teaching.rows(store, progress=desk.progress)
        about = "deletions of posts, and words of an anonymous and an open community"
        return self._trained(rows, teaching.targets(store, rows.exposures, signals), about)

    def _by_topics(self, store: ExposureStore, desk: Desk) -> Trained | TrainedTrees:
        """From the sensitivity of topics alone."""
        from aidos.model.sensitivity import TopicalSensitivity
        from aidos.model.text.analyser import Analyser
        from aidos.rooms.exposure.critical.features import FEATURES
        from aidos.rooms.exposure.critical.teaching import Teaching, sensitivity_scores

        rows = Teaching(seed=self.seed).rows(store, progress=desk.progress)
        sensitivity = TopicalSensitivity.default(analyser=Analyser.parse(store.settings.analyser))
        targets = sensitivity_scores(store, rows.exposures, sensitivity)
        # The target is a feature as well: it would be learned by heart, and nothing else.
        rows.matrix[:, FEATURES.index("topical_sensitivity")] = 0.0
        return self._trained(rows, targets, "the sensitivity of topics")

    def _trained(self, rows: Rows, targets: NDArray[np.float64], about: str) -> Trained | TrainedTrees:
        from aidos.rooms.exposure.critical.lambdarank import train_trees
        from aidos.rooms.exposure.critical.learner import train

        learn = train_trees if self.learner == "lambdarank" else train
        members = rows.exposures.members.astype("int64")
        return learn(members, rows.matrix, targets, seed=self.seed, about=about, trained_on=OWN)

    def _counts(self, engine: EmbeddedEngine, files: Sequence[str], store: ExposureStore) -> dict[str, int]:
        from aidos.ingest.reading import read_files
        from aidos.model.text.analyser import Analyser
        from aidos.rooms.exposure.critical.teaching import count_words, texts_of

        posts = read_files(engine, files, self.how.options()).table
        if "text" not in posts.columns:
            hint = "see what is in them: aidos check"
            raise InputError("the files hold no posts: there are no texts in them", hint=hint)
        return count_words(texts_of(posts.fetch()), Analyser.parse(store.settings.analyser))


def read_deletions(path: Path) -> dict[str, bool]:
    """Which posts were deleted, and which were not."""
    import pyarrow as pa
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    from aidos.engine.inputs import open_input

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


def _own_counts(store: ExposureStore) -> dict[str, int]:
    """Of the posts of the directory, when it was computed."""
    import numpy as np

    counts = store.reference.term_counts
    return dict(zip(store.words(np.arange(len(counts))), counts.tolist(), strict=True))
