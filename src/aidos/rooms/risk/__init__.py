"""Rank susceptibility: where somebody stands when a rational adversary looks for the people of a sensitive topic."""
