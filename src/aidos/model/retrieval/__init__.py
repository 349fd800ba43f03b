"""A search engine inside: an index that exposes its statistics, scorers, and re-ranking by a person's words."""
