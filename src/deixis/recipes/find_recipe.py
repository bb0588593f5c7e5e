"""Find a recipe: a file of the user's, or one of those that come with deixis."""

from pathlib import Path

from deixis.errors import RecipeError
from deixis.paths import expanded

_HERE = Path(__file__).parent
# An installed package has the recipes beside this file; a repository has them at its root.
PACKAGED = (_HERE / "tables", _HERE.parents[2] / "recipes")


def find_recipe(name: Path | str) -> Path:
    """The file of a recipe given by its path or, such as "tiny", by its name."""
    path = expanded(name)
    if path.is_file():
        return path
    folder = next((folder for folder in PACKAGED if folder.is_dir()), None)
    if folder is None or path.suffix or len(path.parts) != 1:
        raise RecipeError(f"there is no recipe at {path}")
    found = folder / f"{path.name}.toml"
    if not found.is_file():
        listed = ", ".join(sorted(file.stem for file in folder.glob("*.toml")))
        raise RecipeError(f"there is no recipe '{path}'; these come with deixis: {listed}")
    return found
