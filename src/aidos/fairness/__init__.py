"""Re-ranking so that attention over time is proportional to relevance."""
