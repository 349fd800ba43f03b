"""The job that learns the adversary's models from a corpus: a topic model, word vectors, and a card for each topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import CROWD, SEED
from aidos.errors import InputError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Section, Short
from aidos.jobs.options import Drawn
from aidos.rooms.risk.jobs.options import Rounds, Timeless, told_facts

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.engine.embedded import EmbeddedTable
    from aidos.model.latent.model import TopicModel
    from aidos.model.vectors import WordVectors
    from aidos.report.page import Block

__all__ = ["Learning", "TrainModels", "TrainedModels"]

ORDERED = "select author_id, concat_ws(' ', nullif(title, ''), text) as text from {table} order by all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning(Rounds, Drawn):
    """How much is learned, and how."""

    latent_topics: Annotated[int, Ge(1), Le(10_000)] = 200
    """How many topics are learned."""
    guided: bool = False
    """Draw a topic to the words of each sensitive one: for corpora where these are rare, and would share topics."""
    least_people: Annotated[int, Ge(1), CROWD] = 20
    """Fewest people who must use a word."""
    seed: Annotated[int, Ge(1), SEED] = 1

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TrainedModels(Finding):
    """What was learned, and where it is."""

    about: str = "those who wrote the texts"
    directory: Path
    texts: int
    words: int
    latent_topics: int
    mean_coherence: float
    matched: int
    """Sensitive topics that have a latent one."""
    unmatched: int

    def facts(self) -> Mapping[str, object]:
        """Numbers about both models."""
        names = ("texts", "words", "latent_topics", "mean_coherence", "matched", "unmatched")
        return {"directory": str(self.directory)} | {name: getattr(self, name) for name in names}

    def blocks(self) -> Sequence[Block]:
        """The same."""
        return (told_facts(self.facts()),)

    def remarks(self) -> Sequence[str]:
        """Where to read on."""
        from aidos.rooms.risk.models import CARDS

        return (f"{self.directory / CARDS} says what each topic is about",)


@dataclass(frozen=True, slots=True)
class TrainModels(Timeless):
    """Learn a topic model and word vectors from posts or queries, with a card for each topic.

    A word enters the models only if enough people use it. That is a rule of
    thumb and no guarantee: the directory is for its owner only. With --threads
    1 the same seed gives the same models again.

    For example:
        aidos risk train posts.parquet -o models
        aidos risk train posts.parquet --latent-topics 100 --least-people 50 -o models
        aidos risk train posts.parquet --latent-topics 250 --guided -o models
        aidos risk rank posts.parquet --model models --measure w2v-dt -o ranks --i-am-the-operator
    """

    files: tuple[str, ...]
    """Posts or queries to learn from: files or glob patterns."""
    _: KW_ONLY
    output: Annotated[Path, Short("-o")]
    """The directory to write: topics.npz, vectors.npz and cards.txt."""
    topic_file: Annotated[Path | None, Named("--topics")] = None
    """Sensitive topics to look for in the model, as `aidos risk topics --export` writes them."""
    learning: Annotated[Learning, Section("How models are learned")] = field(default_factory=Learning)
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> TrainedModels:
        """Read the entries, learn, and write models and cards."""
        from aidos.rooms.risk.sources import read_entries

        options = self.how.options()
        with desk.engine() as engine:
            entries = read_entries(engine, self.files, options, without_times=self.without_times)
            return _learned(entries, self, desk)


def _learned(entries: EmbeddedTable, asked: TrainModels, desk: Desk) -> TrainedModels:
    import numpy as np

    from aidos.engine.files import make_directories, write_text
    from aidos.model.latent.matching import make_cards, match
    from aidos.model.sensitive import TopicSet, read_topics
    from aidos.rooms.risk.models import CARDS, LATENT, VECTORS

    output = Path(asked.output)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f"{output} holds something already", hint="choose another directory")
    sensitive = TopicSet.default() if asked.topic_file is None else read_topics(asked.topic_file)
    read = entries.fetch(ORDERED)
    guides = [topic.words for topic in sensitive] if asked.learning.guided else []
    latent, vectors = _trained(read, asked.learning, guides, desk)
    matches = match(latent, sensitive)
    make_directories(output, private=True)
    latent.save(output / LATENT)
    vectors.save(output / VECTORS)
    cards = make_cards(latent, sensitive, matches)
    said = [*map(str, cards), *(f"note: {warning}" for warning in matches.warnings)]
    write_text(output / CARDS, "\n\n".join(said) + "\n", private=True)
    return TrainedModels(
        directory=output,
        texts=read.num_rows,
        words=len(latent.words),
        latent_topics=len(latent),
        mean_coherence=round(float(np.nanmean(latent.coherences)), 3),
        matched=len(matches.dimensions),
        unmatched=len(sensitive) - len(matches.dimensions),
    )


def _trained(
    read: pa.Table, learning: Learning, guides: Sequence[Sequence[str]], desk: Desk
) -> tuple[TopicModel, WordVectors]:
    from aidos.model.latent.training import train_topics
    from aidos.model.vectors import train_vectors
    from aidos.model.wordlimits import WordLimits

    people, limits = read["author_id"].to_pylist(), WordLimits(least_people=learning.least_people)
    latent = train_topics(
        read["text"],
        topics=learning.latent_topics,
        guides=guides,
        people=people,
        limits=limits,
        iterations=learning.iterations,
        seed=learning.seed,
        threads=desk.threads,
        progress=desk.progress,
    )
    vectors = train_vectors(
        read["text"],
        dimensions=learning.dimensions,
        people=people,
        limits=limits,
        epochs=learning.epochs,
        seed=learning.seed,
        threads=desk.threads,
        progress=desk.progress,
    )
    return latent, vectors
