"""One file per paper: its options and how its parts are put together."""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from deixis.errors import RecipeError

PLUGINS = "deixis.methods"  # the entry point group of packages that bring methods of their own


@cache
def load_all() -> None:
    """Import every method file and every plugin, so that recipes can name what they register."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    for plugin in entry_points(group=PLUGINS):
        try:
            plugin.load()
        except Exception as error:  # a package of somebody else may raise anything
            raise RecipeError(
                f"the entry point {plugin.name} = '{plugin.value}' of group {PLUGINS} cannot be"
                f" loaded ({type(error).__name__}: {error}); repair or uninstall its package"
            ) from error
