"""`aidos check`: what a file is, what is in it, and everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aidos.app.console import Common, open_engine, show_json
from aidos.app.reading import HowToRead

if TYPE_CHECKING:
    from aidos.ingest.check import CheckReport

__all__ = ["check"]


def check(
    files: Sequence[str],
    /,
    *,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Say what a file is, what is in it, and everything that is wrong with it.

    All problems are told at once, grouped, with line numbers and the option to paste that would mend each. The exit
    code is 2 when there are any. No cell of the file is ever shown.

    Examples:
        aidos check log.tsv
        aidos check 'logs/*.ndjson.gz' --json
        aidos check export.csv --column client_id=visitor --delimiter ';'

    Parameters
    ----------
    files
        Files or glob patterns; gzip and zstandard are read as they are.
    """
    from aidos.ingest.check import check_files

    common = common or Common()
    with open_engine(common) as engine:
        report = check_files(engine, files, (how or HowToRead()).options())
    if common.json:
        show_json(report.to_dict())
    else:
        _show(report)
    return 2 if report.problems else 0


def _show(report: CheckReport) -> None:
    raise NotImplementedError
