"""Corpora written as Karpathy's JSON, or as an image folder others can read."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.formats.narratives.localized_narratives import Narrative, narrative_record
from deixis.data.read_corpus import read_corpus
from deixis.errors import DataError
from deixis.features.words.vocabulary import split_words
from deixis.files import replacing, replacing_folder, write_json

TargetFormat = Literal["imagefolder", "karpathy"]


def convert_corpus(source: Path, target: Path, to: TargetFormat) -> list[str]:
    """Write the corpus at a path in another format; return what that format cannot hold."""
    write = write_imagefolder if to == "imagefolder" else write_karpathy
    return write(read_corpus(source), target)


def write_karpathy(corpus: Corpus, target: Path) -> list[str]:
    """Write a corpus as Karpathy's JSON, image by image; return what the format cannot hold.

    Labels, and further images a text fits, stand under keys that others ignore. Pictures stay
    where they are, so the file must lie in the corpus' folder or above it.
    """
    try:
        above = corpus.root.resolve().relative_to(target.parent.resolve()).as_posix()
    except ValueError as error:
        raise DataError(
            f"{target} does not lie in {corpus.root} or above it, where its paths begin"
        ) from error
    files = [f"{above}/{file}" if above != "." else file for file in corpus.files]
    with replacing(target) as temporary, temporary.open("w", encoding="utf-8") as out:
        names = json.dumps(corpus.label_names, ensure_ascii=False)
        out.write(f'{{"dataset": {json.dumps(corpus.name)}, "label_names": {names}, "images": [\n')
        for image, record in enumerate(_Records(corpus, files).all()):
            out.write((",\n" if image else "") + json.dumps(_karpathy(record), ensure_ascii=False))
        out.write("\n]}\n")
    narrated = len(corpus.narrations)
    return [f"{narrated} narrations keep their texts but lose times and traces"] if narrated else []


def write_imagefolder(corpus: Corpus, target: Path) -> list[str]:
    """Write a corpus as a folder of pictures with metadata in every split's folder.

    Pictures are linked where the disk allows it, else copied. The folder appears whole or not at
    all. Everything a corpus holds has its place, so the list of what is lost is empty.
    """
    if target.exists():
        raise DataError(f"{target} exists already; choose another folder")
    with replacing_folder(target) as partial:
        _write_folder(corpus, partial)
    return []


def _write_folder(corpus: Corpus, root: Path) -> None:
    names = _names(corpus)
    captions = corpus.captions()
    for split in sorted(set(corpus.splits)):
        (root / split).mkdir(parents=True)
    for image, name in enumerate(names):
        _place(corpus.path(image), root / name)
    files = {
        s: (root / s / "metadata.jsonl").open("w", encoding="utf-8") for s in set(corpus.splits)
    }
    for record in _Records(captions, names).all():
        line = {**record, "file_name": record["file_name"].split("/", 1)[1]}
        files[record["split"]].write(json.dumps(line, ensure_ascii=False) + "\n")
    for file in files.values():
        file.close()
    if corpus.narrations:
        with (root / "narratives.jsonl").open("w", encoding="utf-8") as narrated:
            for text, narration in corpus.narrations.items():
                narrative = Narrative(names[corpus.owners[text]], narration, corpus.name)
                narrated.write(json.dumps(narrative_record(narrative), ensure_ascii=False) + "\n")
    about = {"name": corpus.name} | (
        {} if corpus.labels is None else {"label_names": corpus.label_names}
    )
    write_json(root / "corpus.json", about)


def _names(corpus: Corpus) -> list[str]:
    """A new place in its split's folder for every picture; the whole old path where names clash."""
    short = [
        f"{split}/{Path(file).name}"
        for split, file in zip(corpus.splits, corpus.files, strict=True)
    ]
    taken = Counter(short)
    whole = [f"{s}/{f.replace('/', '_')}" for s, f in zip(corpus.splits, corpus.files, strict=True)]
    names = [name if taken[name] == 1 else long for name, long in zip(short, whole, strict=True)]
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise DataError(f"two pictures would be called {twice}; rename one of them")
    return names


def _place(source: Path, target: Path) -> None:
    if not source.is_file():
        raise DataError(
            f"{source}: there is no such picture to write; `deixis data check` lists all"
        )
    try:
        os.link(source, target)
    except OSError:  # another disk, or one without links
        shutil.copyfile(source, target)


class _Records:
    """The images of a corpus as metadata rows, under new file names."""

    def __init__(self, corpus: Corpus, names: list[str]) -> None:
        self._corpus, self._names = corpus, names
        order = np.argsort(corpus.owners, kind="stable")
        edges = np.searchsorted(corpus.owners[order], np.arange(len(corpus.files) + 1))
        self._texts = [order[a:b].tolist() for a, b in zip(edges[:-1], edges[1:], strict=True)]
        self._also: dict[int, list[str]] = {}
        for image, text in corpus.pairs.tolist():
            if corpus.owners[text] != image:
                self._also.setdefault(text, []).append(names[image])

    def all(self) -> Iterator[dict[str, Any]]:
        corpus = self._corpus
        for image, texts in enumerate(self._texts):
            record: dict[str, Any] = {
                "file_name": self._names[image],
                "split": corpus.splits[image],
                "captions": [corpus.texts[text] for text in texts],
            }
            if any(text in self._also for text in texts):
                record["also"] = [self._also.get(text, []) for text in texts]
            if corpus.labels is not None:
                row = np.flatnonzero(corpus.labels[image])
                record["labels"] = [corpus.label_names[label] for label in row]
            if corpus.twins is not None and corpus.twins[image, 0] >= 0:
                record["group"], record["twin"] = corpus.twins[image].tolist()
            if corpus.image_ids is not None:
                record["image_id"] = int(corpus.image_ids[image])
            if corpus.text_ids is not None:
                record["text_ids"] = corpus.text_ids[texts].tolist()
            yield record


def _karpathy(record: dict[str, Any]) -> dict[str, Any]:
    """A metadata row under Karpathy's names."""
    record = dict(record)
    folder, _, name = record.pop("file_name").rpartition("/")
    texts = record.pop("captions")
    ids = record.pop("text_ids", [-1] * len(texts))
    sentences = [
        {"raw": text, "tokens": split_words(text), "sentid": id}
        for text, id in zip(texts, ids, strict=True)
    ]
    known = {"cocoid": record.pop("image_id")} if "image_id" in record else {}
    return {
        "filepath": folder,
        "filename": name,
        **known,
        **record,
        "sentids": ids,
        "sentences": sentences,
    }
