"""Any corpus from its path: the format is recognised by what lies there."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deixis.data.corpus import Corpus
from deixis.data.formats.captions_jsonl import is_captions_jsonl, list_captions_jsonl
from deixis.data.formats.coco_captions import caption_files, list_coco
from deixis.data.formats.conceptual_captions import list_conceptual_captions, lists_in
from deixis.data.formats.csv_tables import is_table, list_table
from deixis.data.formats.flickr_tokens import list_flickr_tokens, token_files
from deixis.data.formats.imagefolder import list_imagefolder
from deixis.data.formats.karpathy import is_karpathy, list_karpathy
from deixis.data.formats.labelled_lists import is_labelled, list_labelled
from deixis.data.formats.mirflickr import is_mirflickr, list_mirflickr
from deixis.data.formats.narratives.narrative_corpus import (
    is_narrative_corpus,
    list_narrative_corpus,
)
from deixis.data.formats.nuswide import is_nuswide, list_nuswide
from deixis.data.formats.scan_arrays import list_scan_arrays, scan_arrays_in
from deixis.data.parsing.listing import Listing, build_corpus
from deixis.data.parsing.problems import ReportProblem, refuse
from deixis.errors import DataError
from deixis.paths import expanded


@dataclass(frozen=True)
class Format:
    """A format: its name, how it is recognised and how it is listed."""

    name: str
    recognise: Callable[[Path], object]
    list: Callable[[Path, ReportProblem], Listing]


def list_pictures(path: Path, report: ReportProblem) -> Listing:
    """List a folder of pictures; where it has none, say which folder in it is a corpus."""
    try:
        return list_imagefolder(path, report)
    except DataError as error:
        folders = [inner for inner in sorted(path.iterdir()) if inner.is_dir()]
        for inner in folders:
            if any(known.recognise(inner) for known in FORMATS[:-1]):
                raise DataError(f"{error}; {inner} is a corpus: name that folder") from error
        raise


# The first that recognises the path reads it; a folder of anything else is one of pictures.
FORMATS = (
    Format("Karpathy's JSON", is_karpathy, list_karpathy),
    Format("COCO captions", caption_files, list_coco),
    Format("Flickr's captions", token_files, list_flickr_tokens),
    Format("Conceptual Captions", lists_in, list_conceptual_captions),
    Format("CSV or TSV", is_table, list_table),
    Format("Localized Narratives", is_narrative_corpus, list_narrative_corpus),
    Format("precomputed features", scan_arrays_in, list_scan_arrays),
    Format("labelled corpus", is_labelled, list_labelled),
    Format("MIRFLICKR-25K", is_mirflickr, list_mirflickr),
    Format("NUS-WIDE", is_nuswide, list_nuswide),
    Format("photo corpus", is_captions_jsonl, list_captions_jsonl),
    Format("folder of pictures", Path.is_dir, list_pictures),
)


def read_corpus(path: Path | str) -> Corpus:
    """Read the corpus at a path, whichever known format it has.

    ```python
    corpus = deixis.read_corpus("data/flickr30k")
    print(len(corpus.files), "images,", len(corpus.texts), "texts")
    ```
    """
    path = expanded(path)
    return build_corpus(format_of(path).list(path, refuse))


def format_of(path: Path) -> Format:
    """The format of a corpus, recognised from the files at a path."""
    if not path.exists():
        raise DataError(f"there is no corpus at {path}")
    for known in FORMATS:
        if known.recognise(path):
            return known
    names = ", ".join(known.name for known in FORMATS)
    raise DataError(f"{path} is of no known format; known: {names}")
