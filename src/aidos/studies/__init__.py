"""The experiments of the papers, each a named value that anybody can run again."""
