"""`python -m aidos` is the command line."""

from aidos.surfaces.cli import main

if __name__ == "__main__":
    main()
