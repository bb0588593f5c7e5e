"""Sentences about pictures that people judged: true of the picture, or contradicted by it.

Two layouts of JSON lines are read: ``file``, ``text``, ``label``; and SNLI-VE's own
``Flickr30K_ID``, ``sentence2``, ``gold_label``.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from deixis.data.corpus import Corpus
from deixis.data.parsing.problems import refuse
from deixis.data.parsing.text_lines import json_lines
from deixis.errors import DataError, EvaluationError

FILE = "hard_text.jsonl"
TRUE, CONTRADICTED = "entailment", "contradiction"
LABELS = (TRUE, CONTRADICTED, "neutral")
LAYOUTS = (("file", "text", "label"), ("Flickr30K_ID", "sentence2", "gold_label"))


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence, the image it is about, and whether people found it true or contradicted."""

    image: int  # in the corpus it was read for
    text: str
    true: bool  # entailed; otherwise contradicted


def read_sentences(path: Path, corpus: Corpus) -> tuple[JudgedSentence, ...]:
    """The true and the contradicted sentences of a corpus' images; neutral ones are left out.

    The path is a ``.jsonl`` file, or a folder that holds ``hard_text.jsonl``.
    """
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise DataError(f"there are no judged sentences at {file}; use lines of file, text, label")
    images = {PurePosixPath(name).stem: image for image, name in enumerate(corpus.files)}
    found = []
    for line, record in json_lines(file, refuse):
        name, text, label = _fields(record, f"{file}:{line}")
        image = images.get(PurePosixPath(name).stem)
        if image is not None and label in (TRUE, CONTRADICTED):
            found.append(JudgedSentence(image, text, label == TRUE))
    if not found:
        raise EvaluationError(f"no sentence of {file} is about an image of corpus '{corpus.name}'")
    return tuple(found)


def _fields(record: dict[str, Any], where: str) -> tuple[str, str, str]:
    for keys in LAYOUTS:
        if all(isinstance(record.get(key), str) for key in keys):
            name, text, label = (record[key] for key in keys)
            if label in (*LABELS, "-"):  # SNLI marks sentences people did not agree on by "-"
                return name, text, label
            raise DataError(f"{where}: the label is '{label}'; use one of {', '.join(LABELS)}")
    raise DataError(f"{where}: not a judged sentence; it needs file, text and label")
