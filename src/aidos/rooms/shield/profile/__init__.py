"""Profiles that stay at home: for each query, what of a searcher's interests is worth showing, and no more."""
