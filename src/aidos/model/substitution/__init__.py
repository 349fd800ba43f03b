"""Query substitution (Jones et al. 2006): other ways to ask, learned from how people rephrase their queries."""
