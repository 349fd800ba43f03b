"""Loops over postings, compiled."""
