"""Mediator accounts on a query log made of questions and answers (Biega et al. 2017; thesis, chapter 7)."""
