"""Room 2: searchers protected from the search engine: mediator accounts, and profiles generalised per query."""
