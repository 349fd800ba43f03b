"""From results to something readable: charts, one self-contained page, terminal text.

`page` describes a page and renders it, `charts` draws the figures in it, `terminal` says the same in a console. The
other modules serve these three: `values` writes numbers and foreign text, `drawing` turns a specification into SVG.
"""
