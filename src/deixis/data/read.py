"""Any corpus from its path: the format is recognised by what lies there."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deixis.data.coco import caption_files, list_coco
from deixis.data.corpus import Corpus
from deixis.data.imagefolder import list_imagefolder
from deixis.data.karpathy import is_karpathy, list_karpathy
from deixis.data.labelled import is_labelled, list_labelled
from deixis.data.mirflickr import is_mirflickr, list_mirflickr
from deixis.data.narrated import is_narrated, list_narrated
from deixis.data.nuswide import is_nuswide, list_nuswide
from deixis.data.photos import is_photos, list_photos
from deixis.data.precomp import list_precomp, precomp_arrays
from deixis.data.problems import Tell, refuse
from deixis.data.rows import Listing, gather
from deixis.data.tables import is_table, list_table
from deixis.errors import DataError


@dataclass(frozen=True)
class Format:
    """A format: its name, how it is recognised and how it is listed."""

    name: str
    recognise: Callable[[Path], object]
    list: Callable[[Path, Tell], Listing]


# The first that recognises the path reads it; a folder of anything else is one of pictures.
FORMATS = (
    Format("Karpathy's JSON", is_karpathy, list_karpathy),
    Format("COCO captions", caption_files, list_coco),
    Format("CSV or TSV", is_table, list_table),
    Format("Localized Narratives", is_narrated, list_narrated),
    Format("precomputed features", precomp_arrays, list_precomp),
    Format("labelled corpus", is_labelled, list_labelled),
    Format("MIRFLICKR-25K", is_mirflickr, list_mirflickr),
    Format("NUS-WIDE", is_nuswide, list_nuswide),
    Format("photo corpus", is_photos, list_photos),
    Format("folder of pictures", Path.is_dir, list_imagefolder),
)


def read_corpus(path: Path) -> Corpus:
    """Read the corpus at a path, whichever known format it has."""
    return gather(format_of(path).list(path, refuse))


def format_of(path: Path) -> Format:
    """The format of what lies at a path."""
    if not path.exists():
        raise DataError(f"there is no corpus at {path}")
    for known in FORMATS:
        if known.recognise(path):
            return known
    names = ", ".join(known.name for known in FORMATS)
    raise DataError(f"{path} is of no known format; known: {names}")
