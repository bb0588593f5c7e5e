"""The authors' vocabularies: JSON, or pickles read as data."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from deixis.errors import DataError
from deixis.features.words.vocabulary import SPECIAL, Vocabulary
from deixis.runs.released.plain_pickle import Allowed, Build, read_plain

PUBLISHED = ("<pad>", "<start>", "<end>", "<unk>")  # stand for our own first four, in this order
MASK = "<mask>"


def read_words(path: Path) -> list[str]:
    """The words of a vocabulary in the order of their numbers, the authors' special ones included.

    Known are tables with ``word2idx``, as SCAN writes them to JSON and VSE++ pickles them, plain
    tables of words with their numbers, and plain lists.
    """
    if not path.is_file():
        raise DataError(f"there is not a vocabulary at {path}")
    content = _content(path)
    if isinstance(content, dict) and isinstance(content.get("word2idx"), dict):
        content = content["word2idx"]
    if isinstance(content, dict):
        content = _in_order(content, path)
    if not isinstance(content, list) or not all(isinstance(word, str) for word in content):
        raise DataError(f"{path} is not a vocabulary: wanted words with their numbers, or a list")
    return content


def _content(path: Path) -> Any:
    with path.open("rb") as file:
        if path.suffix != ".json":
            records = (".Vocabulary",)
            rebuilt: dict[str, Build] = {
                f"{module}._reconstructor": lambda *_: {} for module in ("copyreg", "copy_reg")
            }
            objects = ("builtins.object", "__builtin__.object")
            return read_plain(file, Allowed(rebuilt, records, objects), str(path))
        try:
            return json.load(file)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} is not JSON: {error}") from error


def _in_order(numbers: dict[Any, Any], path: Path) -> list[Any]:
    found = [number for number in numbers.values() if type(number) is int]
    if sorted(found) != list(range(len(numbers))):
        raise DataError(f"{path}: the numbers of its words are not 0 to {len(numbers) - 1}")
    return sorted(numbers, key=lambda word: numbers[word])


def own_vocabulary(words: list[str], table: Tensor) -> tuple[Vocabulary, Tensor]:
    """Their words and word vectors in our order: our special words first, then all of theirs.

    DivE adds a word for what is masked after its vocabulary was written; others have none, and
    then its vector is zero.
    """
    if len(table) == len(words) + 1:
        words = [*words, MASK]
    if len(table) != len(words):
        raise DataError(
            f"the checkpoint has vectors of {len(table)} words, the vocabulary {len(words)}; "
            "wanted the vocabulary it was trained with"
        )
    place = {word: number for number, word in enumerate(words)}
    missing = [word for word in PUBLISHED if word not in place]
    if missing:
        raise DataError(f"the vocabulary has no {missing[0]}; it has {words[:4]}, …")
    first = [table[place[word]] for word in PUBLISHED]
    first.append(table[place[MASK]] if MASK in place else torch.zeros_like(table[0]))
    assert len(first) == len(SPECIAL), "one vector per special word"
    own = [word for word in words if word not in {*PUBLISHED, MASK}]
    rows = table[[place[word] for word in own]]
    return Vocabulary(tuple(own), "treebank"), torch.cat([torch.stack(first), rows])
