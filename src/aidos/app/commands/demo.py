"""`aidos demo`."""

__all__ = ["demo"]


def demo() -> int:
    """Run.

    Examples:
        aidos demo
    """
    return 0
