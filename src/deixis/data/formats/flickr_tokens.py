"""Flickr8k and Flickr30k as their authors publish them: ``*.token`` files beside flat pictures.

A line is ``1000268201_693b08cb0e.jpg#0``, a tab and a caption. Flickr8k's ``*.trainImages.txt``,
``*.devImages.txt`` and ``*.testImages.txt`` list the splits and leave 91 captioned pictures out;
Flickr30k comes without any.
"""

from collections.abc import Iterator
from pathlib import Path

from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.picture_folder import picture_folder
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.data.parsing.text_lines import numbered_lines
from deixis.data.shared_tag_texts import LEFT_OUT
from deixis.data.split_names import split_name
from deixis.errors import DataError


def token_files(path: Path) -> list[Path]:
    """The files of captions in a folder; Flickr8k's lemmas are another file."""
    return sorted({*path.glob("*.token.txt"), *path.glob("*.token")}) if path.is_dir() else []


def list_flickr_tokens(path: Path, report: ReportProblem) -> Listing:
    """List a folder with one file of captions."""
    first, *others = token_files(path)
    if others:
        listed = ", ".join(file.name for file in (first, *others))
        raise DataError(f"{path} holds several corpora: {listed}; keep one of them in a folder")
    return Listing(path.resolve().name, path, _rows(first, report))


def _rows(path: Path, report: ReportProblem) -> Iterator[ImageRow]:
    captions: dict[str, list[tuple[str, str]]] = {}
    for number, line in numbered_lines(path, report):
        name, tab, text = line.partition("\t")
        picture, mark, _ = name.partition("#")
        where = f"{path}:{number}"
        if not (tab and mark):
            report(CorpusProblem("malformed", where, "wanted NAME.jpg#0, a tab and a caption"))
        elif not picture.endswith(".jpg.1"):  # one picture of Flickr8k's list was never published
            captions.setdefault(picture, []).append((text.strip(), where))
    splits = _splits(path.parent, report)
    folder = picture_folder(path.parent, captions)
    for picture, lines in captions.items():
        texts, wheres = zip(*lines, strict=True)
        split = splits.get(picture, LEFT_OUT) if splits else "train"
        yield ImageRow(wheres[0], folder + picture, texts, split, wheres)


def _splits(folder: Path, report: ReportProblem) -> dict[str, str]:
    """The split of each listed picture; empty where there are no lists."""
    found: dict[str, str] = {}
    for name in ("train", "dev", "test"):
        for path in folder.glob(f"*.{name}Images.txt"):
            lines = (line.strip() for _, line in numbered_lines(path, report))
            found |= dict.fromkeys((line for line in lines if line), split_name(name))
    return found
