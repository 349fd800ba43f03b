"""Where tables live: DuckDB inside the process, and every query that aidos asks of an engine."""
