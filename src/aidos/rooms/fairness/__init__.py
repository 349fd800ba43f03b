"""Room 5: rankings reordered so that attention over time is proportional to relevance."""
