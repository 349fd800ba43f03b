"""Queries, the addresses clicked for them and the queries that follow: a graph to rank addresses by."""
