"""What an experiment on mediator accounts found: rows by person, and their means beside those of the thesis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aidos.errors import InputError

__all__ = ["MEASURES", "OWN_ACCOUNT", "THESIS", "Outcome"]

OWN_ACCOUNT = "own-account"
"""The setting where nothing is mediated: everybody has an account of her own."""

MEASURES = {
    "entropy": "entropy over accounts",
    "overlap": "largest share in one account",
    "coherence_loss": "coherence loss",
    "least_divergence": "least divergence (min KL)",
    "kendall_loss": "Kendall tau loss at 100",
    "jaccard_loss": "Jaccard loss at 20",
    "linked_1": "found by the adversary, 1 guess",
    "chance_1": "found by blind guess, 1 guess",
    "linked_10": "found by the adversary, 10 guesses",
    "chance_10": "found by blind guess, 10 guesses",
}
"""What is measured of each person, and its name."""

THESIS = {
    None: (0.0, 0.0, 0.0, 0.0),
    0.0: (1.180, 0.178, 0.320, 0.170),
    0.2: (2.208, 0.293, 0.319, 0.203),
    0.4: (3.130, 0.389, 0.346, 0.228),
    0.6: (3.975, 0.463, 0.389, 0.246),
    0.8: (4.731, 0.515, 0.494, 0.260),
    1.0: (5.287, 0.535, 0.863, 0.266),
}
"""Table 7.1 of the thesis, by alpha: entropy, coherence loss, least divergence, Kendall tau loss."""

Z = 1.959963984540054
"""95 % of a normal variable is within so many standard deviations."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """A row for each person under each setting."""

    people: pa.Table
    """Heuristic, alpha (null where nothing is mediated), person, objects, diversity, and the columns of `MEASURES`."""

    def settings(self) -> list[tuple[str, float | None]]:
        """Heuristic and alpha, in the order in which they were tried."""
        heads = zip(self.people["heuristic"].to_pylist(), self.people["alpha"].to_pylist(), strict=True)
        return list(dict.fromkeys((str(heuristic), alpha) for heuristic, alpha in heads))

    def of(self, heuristic: str, alpha: float | None) -> pa.Table:
        """The rows of one setting."""
        column = self.people["alpha"]
        same = pc.is_null(column) if alpha is None else pc.equal(column, pa.scalar(alpha, pa.float64()))
        found = self.people.filter(pc.and_(pc.equal(self.people["heuristic"], pa.scalar(heuristic)), same))
        if found.num_rows == 0:
            raise InputError(f"the setting {heuristic}, alpha {alpha}, was not tried")
        return found

    def mean(self, heuristic: str, alpha: float | None, measure: str) -> float:
        """The mean over people."""
        return float(np.nanmean(self.of(heuristic, alpha)[measure].to_numpy()))

    def summary(self) -> pa.Table:
        """A row for each setting and measure: mean over people and 95 % interval. What was not measured has none."""
        rows = []
        for heuristic, alpha in self.settings():
            held = self.of(heuristic, alpha)
            for measure in MEASURES:
                values = held[measure].to_numpy()
                values = values[~np.isnan(values)]
                if len(values) == 0:
                    continue
                half = Z * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("nan")
                mean = float(values.mean())
                rows.append((heuristic, alpha, measure, mean, mean - half, mean + half, len(values)))
        names = ("heuristic", "alpha", "measure", "mean", "low", "high", "people")
        return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})
