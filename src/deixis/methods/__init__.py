"""One file a paper: its options and how its parts are put together."""

from importlib import import_module
from pkgutil import iter_modules


def load_all() -> None:
    """Import every method file, so that recipes can name what it registers."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
