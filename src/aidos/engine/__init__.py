"""Where tables live: DuckDB inside the process, and files that are whole or not there."""
