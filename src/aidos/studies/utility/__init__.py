"""What a released log is still good for: the utility experiments of both log papers, named and re-runnable."""
