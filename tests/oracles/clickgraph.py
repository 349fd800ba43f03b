"""The random walk node by node, word for word from its definition: what the sparse products are compared with.

Slow on purpose, and used by nothing but tests and benchmarks. Every node that the walk may be at passes its probability
on along each of its edges, addresses included, which keep it.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["PlainGraph"]

Edges = dict[str, dict[str, float]]


class PlainGraph:
    """Edges from query to address and from query to query, as dictionaries of counts."""

    def __init__(
        self, clicks: Iterable[tuple[str, str, float]], transitions: Iterable[tuple[str, str, float]] = ()
    ) -> None:
        self.clicks: Edges = {}
        self.transitions: Edges = {}
        for query, address, count in clicks:
            _add(self.clicks, query, address, count)
        for query, following, count in transitions:
            if query != following:
                _add(self.transitions, query, following, count)
                self.transitions.setdefault(following, {})

    def walk(self, query: str, *, steps: int = 3, self_loop: float = 0.1) -> dict[str, float]:
        """The probability of each address after so many steps from a query; empty for a query it does not have."""
        if query not in self.clicks and query not in self.transitions:
            return {}
        queries, addresses = {query: 1.0}, dict[str, float]()
        for _ in range(steps):
            next_queries: dict[str, float] = {}
            next_addresses = dict(addresses)
            for node, chance in queries.items():
                clicked, followed = self.clicks.get(node, {}), self.transitions.get(node, {})
                total = sum(clicked.values()) + sum(followed.values())
                stays = self_loop if total > 0 else 1.0
                next_queries[node] = next_queries.get(node, 0.0) + chance * stays
                for address, count in clicked.items():
                    gained = chance * (1 - self_loop) * count / total
                    next_addresses[address] = next_addresses.get(address, 0.0) + gained
                for following, count in followed.items():
                    gained = chance * (1 - self_loop) * count / total
                    next_queries[following] = next_queries.get(following, 0.0) + gained
            queries, addresses = next_queries, next_addresses
        return addresses


def _add(edges: Edges, start: str, end: str, count: float) -> None:
    if count > 0:
        ends = edges.setdefault(start, {})
        ends[end] = ends.get(end, 0.0) + count
