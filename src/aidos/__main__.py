"""`python -m aidos` is the command line."""

from aidos.app.cli import main

if __name__ == "__main__":
    main()
