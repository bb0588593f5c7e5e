"""Which generation of a library is in use."""

import re
from pathlib import Path

from deixis.errors import SearchError

CURRENT = "current"
_NAME = re.compile(r"generation-(\d{1,18})")


def current_generation(folder: Path) -> Path:
    """The generation that ``current`` names; whatever it says, one below the library itself."""
    path = folder / CURRENT
    try:
        name = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise _none(folder, "which is no text") from None
    except OSError as error:
        raise SearchError(
            f"'{folder}' is not a library; make one with: deixis index PICTURES --library {folder}"
        ) from error
    if _NAME.fullmatch(name) is None or not (folder / name).is_dir():
        raise _none(folder, f"naming '{name[:80]}', which is no generation of it")
    return folder / name


def generations(folder: Path) -> list[Path]:
    """Every generation of a library, the oldest first."""
    found = [path for path in folder.glob("generation-*") if _NAME.fullmatch(path.name)]
    return sorted(found, key=number_of)


def number_of(generation: Path) -> int:
    """How many generations there were with this one."""
    return int(generation.name.removeprefix("generation-"))


def _none(folder: Path, why: str) -> SearchError:
    known = ", ".join(path.name for path in generations(folder)) or "none"
    return SearchError(
        f"{folder / CURRENT} is damaged, {why}; there are: {known}. Write the name of the right "
        "one into it"
    )
