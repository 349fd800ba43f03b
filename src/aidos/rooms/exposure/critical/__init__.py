"""Which exposing queries are critical: features, weak supervision, a linear ranker, and reasons in words."""
