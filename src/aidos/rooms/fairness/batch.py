"""Many rankings at once, as a matrix: for notebooks and for pipelines in the manner of scikit-learn.

Row l is the l-th ranking, column i is subject i, a cell is the relevance, and NaN says that the subject is not in the
ranking. Rows are answered in order, each on the accounts that the rows before it left; shuffling rows changes the
answers. Nothing here needs scikit-learn.

A matrix knows neither who searched nor which actor is behind a subject: for floors of searchers and accounts of actors
give `SubjectRanking`s to `EquityOfAttention`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aidos.core.checks import did_you_mean
from aidos.errors import InputError, ParameterError
from aidos.rooms.fairness.accounts import MemoryKeeper
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.rankings import Floats, Ints, SubjectRanking
from aidos.rooms.fairness.reranker import Reranker

__all__ = ["ABSENT", "EquityRanker", "rerank_matrix"]

ABSENT = -1
"""Fills a row of the answer behind its last subject, where not everybody is in the ranking."""


def rerank_matrix(relevance: ArrayLike, **parameters: Any) -> Ints:
    """Orders to serve, from empty accounts: row l holds the columns of ranking l, first to last.

    Parameters are those of `EquityOfAttention`. Rows with fewer subjects than columns end with -1.
    """
    return EquityRanker(**parameters).fit().transform(relevance)


class EquityRanker:
    """`EquityOfAttention` as an estimator: ``fit`` empties the accounts, ``transform`` re-ranks and counts.

    The accounts go on from one ``transform`` to the next. After it, ``quality_`` holds the NDCG-quality of each of its
    rankings and ``unfairness_`` the unfairness accumulated after each.
    """

    def __init__(self, **parameters: Any) -> None:
        _check_names(parameters)
        self._parameters = parameters
        self._reranker: Reranker | None = None
        self.quality_: Floats = np.zeros(0)
        self.unfairness_: Floats = np.zeros(0)

    def __repr__(self) -> str:
        return f"EquityRanker({', '.join(f'{name}={value!r}' for name, value in self._parameters.items())})"

    def get_params(self, *, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - asked with it by convention
        """Every parameter and its value."""
        defaults = {field.name: field.default for field in fields(EquityOfAttention)}
        return defaults | self._parameters

    def set_params(self, **parameters: Any) -> EquityRanker:
        """Change parameters; they hold from the next ``fit`` on."""
        _check_names(parameters)
        self._parameters = self._parameters | parameters
        return self

    def fit(self, X: ArrayLike | None = None, y: object = None) -> EquityRanker:  # noqa: ARG002, N803 - by convention
        """Start with empty accounts; there is nothing to learn, so both arguments are ignored."""
        equity = EquityOfAttention(**self._parameters)
        self._reranker = Reranker(equity, MemoryKeeper(half_life=equity.half_life))
        self.quality_ = self.unfairness_ = np.zeros(0)
        return self

    def transform(self, X: ArrayLike) -> Ints:  # noqa: N803 - by convention
        """The order to serve for each row: columns, first to last, then -1 for those who are not in the ranking."""
        if self._reranker is None:
            raise ParameterError("this EquityRanker is not fitted yet", hint="call fit() first, or fit_transform()")
        matrix = _matrix(X)
        orders = np.full(matrix.shape, ABSENT, dtype=np.int64)
        names = np.array([str(column) for column in range(matrix.shape[1])], dtype=object)
        self.quality_, self.unfairness_ = np.ones(len(matrix)), np.zeros(len(matrix))
        prepared, there = None, np.zeros(0, dtype=np.int64)
        for row, values in enumerate(matrix):
            # The same query again, as in a simulation, is prepared once.
            if prepared is None or not np.array_equal(values, matrix[row - 1], equal_nan=True):
                there = np.flatnonzero(~np.isnan(values))
                place = f"row {row + 1} of {len(matrix)}"
                ranking = SubjectRanking(subject_ids=tuple(names[there]), relevance=values[there], place=place)
                prepared = self._reranker.prepare(ranking)
            step = self._reranker.serve(prepared)
            served = np.concatenate([step.placed, np.delete(np.arange(len(there)), step.placed)])
            orders[row, : len(there)] = there[prepared.order[served]]
            self.quality_[row], self.unfairness_[row] = step.quality, step.unfairness
        return orders

    def fit_transform(self, X: ArrayLike, y: object = None) -> Ints:  # noqa: N803 - by convention
        """Both at once."""
        return self.fit(X, y).transform(X)


def _check_names(parameters: dict[str, Any]) -> None:
    known = [field.name for field in fields(EquityOfAttention)]
    for name in parameters:
        if name not in known:
            raise ParameterError(f"there is no parameter {name!r}", hint=did_you_mean(name, known))


def _matrix(relevance: ArrayLike) -> Floats:
    try:
        matrix = np.asarray(relevance, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the matrix holds something else than numbers, or rows of unequal length") from None
    if matrix.ndim != 2:
        raise InputError(
            f"a matrix of rankings has two dimensions, this has {matrix.ndim}",
            hint="one row per ranking, NaN if absent",
        )
    return matrix
