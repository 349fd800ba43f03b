"""Exposures from the rows of their files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aidos.exposure.queries.ground import column
from aidos.exposure.queries.records import Exposures

__all__ = ["exposures_of"]


def exposures_of(table: pa.Table) -> Exposures:
    """The columns of `layout.EXPOSURE_COLUMNS` as a value."""
    return Exposures(
        members=column(table, "member"),
        posts=column(table, "post"),
        first=column(table, "first"),
        second=column(table, "second"),
        ranks=column(table, "rank").astype(np.int16),
        whole=column(table, "whole"),
        certain=column(table, "certain"),
        documents=column(table, "documents"),
        evenness=column(table, "evenness"),
    )
