"""Taxonomies that others publish, read into the one tree type of aidos and kept in one compressed file."""
