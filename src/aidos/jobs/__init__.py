"""Questions and answers: what can be asked of aidos (a job), with what it works (a desk), what comes back (an answer).

A job is declared once, in its room. The command line, Python's verbs, recipes and whatever comes next are grown from
that declaration, and show any answer in the same way.
"""
