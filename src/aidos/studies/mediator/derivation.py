"""A query log made of questions and answers, as in the thesis: whoever has a community's dump can run the experiment.

Questions are what people want to know: each becomes a query of its l words of highest tf-idf, l drawn at random from a
small range. Answers are the documents. The forum is the topic, or the first tag where all posts are of one forum. Only
people with many questions are kept. A person's language is that of her whole questions, since queries alone are short.

Document frequencies are counted over the questions that are kept. Of words with equal tf-idf, the one that came first
in the log is taken. Questions without author, topic or any word are left out and counted.

Such queries are no real ones: nobody typed them, and nobody clicked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from annotated_types import Ge
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.core.progress import SILENT, Progress
from aidos.core.table import Table
from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.search import Queries
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import Analysed, analyse
from aidos.model.text.vocabulary import Vocabulary
from aidos.rooms.shield.mediator.objects import Objects

__all__ = ["Derivation", "Posts", "QueryLog", "index_answers"]

Longs = NDArray[np.int64]
Posts: TypeAlias = "pa.Table | Table"
"""Posts by columns (`aidos.core.records.POSTS`), in memory or held by an engine."""

NEEDED = ("author_id", "timestamp", "text", "kind")
ANALYSER = Analyser(stop_words="english", stemmer="english")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryLog:
    """Queries in the order in which they were asked."""

    objects: Objects
    """Person and topic of each query."""
    people: tuple[str, ...]
    """Authors, by number."""
    topics: tuple[str, ...]
    """Forums or tags, by number."""
    queries: Queries
    """The words of the queries that the index knows."""
    texts: pa.Array[Any]
    """The queries as words, best first."""
    starts: Longs
    """Where the words of each whole question begin in ``terms``."""
    terms: Longs
    """Words of the questions that the index knows, by its numbers."""
    left_out: int
    """Questions of the people kept that had no topic or no words."""

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def owners(self) -> Longs:
        """The number of the question, by word."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """How questions become queries."""

    least_questions: Annotated[int, Ge(1)] = 150
    """Only people with at least so many questions are kept."""
    fewest_words: Annotated[int, Ge(1)] = 2
    """Words of the shortest queries."""
    most_words: Annotated[int, Ge(1)] = 5
    """Words of the longest queries."""
    topic: Literal["forum", "tag"] = "forum"
    """What the topic of a question is: its forum, or its first tag."""
    seed: Annotated[int, Ge(0)] = 0
    """Of the random lengths."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.fewest_words > self.most_words:
            raise ParameterError(f"Derivation: fewest_words is {self.fewest_words}, more than {self.most_words}")

    def derive(self, posts: Posts, index: Index, *, progress: Progress = SILENT) -> QueryLog:
        """The query log of a community whose answers are in the index."""
        with progress.task("reading questions", total=3, unit="steps") as task:
            questions, left_out = self._questions(posts)
            task.advance(1)
            vocabulary = Vocabulary()
            words = analyse(questions["text"], vocabulary, analyser=index.analyser)
            worded = np.diff(words.starts) > 0
            if not worded.any():
                raise InputError(
                    f"no question has a {self.topic} and words",
                    hint="a dump of one site names no forum: take the tag as the topic; or read more posts",
                )
            task.advance(1)
            log = self._log(questions.filter(pa.array(worded)), _kept(words, worded), vocabulary, index)
            task.advance(1)
        return QueryLog(**log, left_out=left_out + int((~worded).sum()))

    def _questions(self, posts: Posts) -> tuple[pa.Table, int]:
        """Author, topic and text of the questions of people who asked enough, by time; and how many had no topic."""
        table = _read_questions(posts, "forum" if self.topic == "forum" else "tags")
        if not table.num_rows:
            raise InputError(
                "no post with an author is a question: the column kind has no question in it, or is not there",
                hint="posts are told apart by a column with question and answer: name it, as in --column kind=NAME; "
                "aidos check lists the columns",
            )
        tally: Any = pc.value_counts(table["author"])
        counts = {str(row["values"]): int(row["counts"]) for row in tally.to_pylist()}
        busy = [author for author, asked in counts.items() if asked >= self.least_questions]
        if not busy:
            raise InputError(
                f"nobody asked {self.least_questions} questions; the most are {max(counts.values(), default=0)}",
                hint="lower least_questions, or give posts of more forums",
            )
        table = table.filter(pc.is_in(table["author"], pa.array(busy, pa.string())))
        topics: Any = table["topic"]
        if self.topic == "tag":
            tags: Any = pc.split_pattern(pc.utf8_trim_whitespace(topics), " ")
            topics = pc.list_element(tags, 0)
        table = table.set_column(table.schema.get_field_index("topic"), "topic", topics)
        kept = table.filter(pc.greater(pc.utf8_length(topics), pa.scalar(0)))
        order = np.argsort(kept["asked"].to_numpy(), kind="stable")
        return kept.take(order), table.num_rows - kept.num_rows

    def _log(self, questions: pa.Table, words: Analysed, vocabulary: Vocabulary, index: Index) -> dict[str, Any]:
        encoded: list[Any] = [questions[name].combine_chunks().dictionary_encode() for name in ("author", "topic")]
        people, topics = encoded
        spelled = list(vocabulary)
        numbers = index.vocabulary.ids(spelled).astype(np.int64)
        query_starts, query_words = self._best_words(words)
        texts = pc.binary_join(
            pa.ListArray.from_arrays(
                pa.array(query_starts, pa.int32()), pa.array(spelled, pa.string()).take(query_words)
            ),
            " ",
        )
        starts, terms = _known(words.starts, numbers[words.terms])
        asked_starts, asked_terms = _known(query_starts, numbers[query_words])
        return {
            "objects": Objects(people=_codes(people), topics=_codes(topics)),
            "people": tuple(people.dictionary.to_pylist()),
            "topics": tuple(topics.dictionary.to_pylist()),
            "queries": Queries(starts=asked_starts, terms=asked_terms, unknown={}),
            "texts": texts,
            "starts": starts,
            "terms": terms,
        }

    def _best_words(self, words: Analysed) -> tuple[Longs, Longs]:
        """The words of highest tf-idf of each question, best first, and where each question's begin."""
        number, width = len(words), int(words.terms.max(initial=0)) + 1
        owners = np.repeat(np.arange(number), np.diff(words.starts))
        pairs, times = np.unique(owners * width + words.terms, return_counts=True)
        question, term = np.divmod(pairs, width)
        weight = times * np.log(number / np.bincount(term, minlength=width)[term])
        order = np.lexsort((term, -weight, question))
        question, term = question[order], term[order]
        places = np.arange(len(order)) - np.searchsorted(question, question)
        stream = np.random.default_rng(self.seed)
        lengths = stream.integers(self.fewest_words, self.most_words, number, endpoint=True)
        kept = places < lengths[question]
        starts = np.concatenate([[0], np.cumsum(np.bincount(question[kept], minlength=number))]).astype(np.int64)
        return starts, term[kept]


def index_answers(posts: Posts, *, analyser: Analyser = ANALYSER, progress: Progress = SILENT) -> Index:
    """An index, in memory, of the answers among posts."""
    _check_columns(posts, ("post_id", "text", "kind"))
    return Index.build(_answers(posts), analyser=analyser, progress=progress)


def _answers(posts: Posts) -> Iterator[pa.RecordBatch]:
    if isinstance(posts, pa.Table):
        yield from posts.filter(pc.equal(posts["kind"], pa.scalar("answer"))).select(["post_id", "text"]).to_batches()
    else:
        yield from posts.select("select post_id, text from {table} where kind = 'answer'").batches()


def _read_questions(posts: Posts, topic: str) -> pa.Table:
    """Columns author, topic, text (title and text together) and asked, of questions with an author."""
    _check_columns(posts, (*NEEDED, topic))
    if not isinstance(posts, pa.Table):
        titled = "concat_ws(' ', title, text)" if "title" in posts.columns else "text"
        return posts.fetch(
            f"select author_id as author, {topic} as topic, {titled} as text, epoch_us(timestamp) as asked "
            "from {table} where kind = 'question' and author_id is not null order by asked, post_id",
            label="reading questions",
        )
    asked = posts.filter(pc.and_(pc.equal(posts["kind"], pa.scalar("question")), pc.is_valid(posts["author_id"])))
    texts: Any = asked["text"].cast(pa.large_string())
    if "title" in asked.column_names:
        join: Any = pc.binary_join_element_wise
        titles: Any = asked["title"].cast(pa.large_string())
        texts = join(titles.fill_null(""), texts.fill_null(""), pa.scalar(" ", pa.large_string()))
    return pa.table(
        {
            "author": asked["author_id"].cast(pa.string()),
            "topic": asked[topic].cast(pa.string()),
            "text": texts,
            "asked": asked["timestamp"].cast(pa.timestamp("us")).cast(pa.int64()),
        }
    )


def _check_columns(posts: Posts, needed: tuple[str, ...]) -> None:
    held = set(posts.column_names if isinstance(posts, pa.Table) else posts.columns)
    if missing := [name for name in needed if name not in held]:
        raise InputError(
            f"posts lack the columns {', '.join(missing)}",
            hint="read them with aidos ingest, which names columns alike",
        )


def _kept(words: Analysed, keep: NDArray[np.bool_]) -> Analysed:
    """The same without texts that have no words: only starts go."""
    return Analysed(terms=words.terms, starts=np.append(words.starts[:-1][keep], words.starts[-1]))


def _known(starts: Longs, terms: Longs) -> tuple[Longs, Longs]:
    """Without the words that the index does not know."""
    known = terms >= 0
    before = np.concatenate([[0], np.cumsum(known)])
    return before[starts].astype(np.int64), terms[known]


def _codes(encoded: Any) -> Longs:
    codes: Longs = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes
