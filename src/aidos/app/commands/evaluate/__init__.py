"""`aidos evaluate`: the papers' experiments, run again by name."""

from __future__ import annotations

from aidos.errors import ParameterError

__all__ = ["PARTS", "evaluate"]


def evaluate() -> int:
    """Run an experiment of the papers again, on their setting or on data of your own.

    For example:
        aidos evaluate mediator -o results
        aidos evaluate mediator --posts Posts.xml --least-questions 20 -o results
        aidos evaluate exposure -o results
        aidos evaluate exposure --in exposure --judgements judged.csv -o results
        aidos evaluate risk -o results
        aidos evaluate risk --posts posts.parquet --judgements judged.csv -o results
        aidos evaluate ups -o results
        aidos evaluate audit -o results
        aidos evaluate utility log.tsv -o results
        aidos evaluate statistics -o results
        aidos evaluate caching log.tsv --documents pages.parquet -o results
        aidos evaluate substitution log.tsv -o results
        aidos evaluate retrieval log.tsv -o results
        aidos evaluate mechanisms --size medium -o results
    """
    *others, last = PARTS
    raise ParameterError(
        f"which experiment is missing: {', '.join(others)} or {last}", hint="see: aidos evaluate --help"
    )


PARTS = {
    "mediator": "aidos.studies.mediator.study:MediatorStudy",
    "exposure": "aidos.studies.exposure.study:ExposureStudy",
    "risk": "aidos.studies.risk.study:RiskStudy",
    "ups": "aidos.studies.ups.study:UpsStudy",
    "audit": "aidos.studies.audit.study:AuditStudy",
    "utility": "utility:utility",
    "statistics": "statistics:statistics",
    "caching": "caching:caching",
    "substitution": "substitution:substitution",
    "retrieval": "retrieval:retrieval",
    "mechanisms": "mechanisms:mechanisms",
}
