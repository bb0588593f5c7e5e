"""Which official layout each path of a recipe has."""

from collections.abc import Callable
from pathlib import Path

from layouts.conceptual_captions import write_conceptual_captions
from layouts.flickr8k import write_flickr8k
from layouts.karpathy import write_coco, write_flickr30k
from layouts.localized_narratives import write_flickr30k_narratives, write_open_images
from layouts.scan_arrays import COCO, write_scan_arrays
from layouts.scene_topics import THINGS
from layouts.tagged import write_mirflickr, write_nuswide
from tiny_towers import tiny_bert, tiny_resnet, tiny_resnext

Write = Callable[[Path], object]


def _coco_arrays(root: Path) -> object:
    return write_scan_arrays(root, COCO, repeated=False)


def _word_vectors(path: Path) -> object:
    """Vectors of 300 numbers in GloVe's text format, of a few words every corpus here has."""
    words = ("a", "near", "in", "canon", *THINGS)
    path.write_text("".join(f"{word} {' '.join(['0.1'] * 300)}\n" for word in words))
    return path


def _bert(folder: Path) -> object:
    """As wide as bert-base, since rows that start from it are; one layer, and few words."""
    return tiny_bert(folder, hidden_size=768, intermediate_size=3072, num_hidden_layers=1)


def _narrow_bert(folder: Path) -> object:
    """As wide as a narrow method."""
    return tiny_bert(folder, hidden_size=32, intermediate_size=32, num_hidden_layers=1)


# The folder a recipe names (or the folder of the file it names) and what unpacks there.
CORPORA: dict[str, Write] = {
    "coco": write_flickr8k,  # captioned photographs of COCO in the same form
    "data/coco": write_coco,
    "data/coco_precomp": _coco_arrays,
    "data/conceptual_captions": write_conceptual_captions,
    "data/f30k_precomp": write_scan_arrays,
    "data/flickr25k": write_mirflickr,
    "data/flickr30k": write_flickr30k,
    "data/flickr30k_localized_narratives": write_flickr30k_narratives,
    "data/nuswide": write_nuswide,
    "data/open_images_localized_narratives": write_open_images,
    "flickr8k": write_flickr8k,
}
TOWERS: dict[str, Write] = {
    "data/bert": _bert,
    "data/glove.840B.300d.txt": _word_vectors,
    "data/resnet152": tiny_resnet,
    "data/resnext101": tiny_resnext,
    "data/word2vec.txt": _word_vectors,
}
NARROW_TOWERS: dict[str, Write] = {**TOWERS, "data/bert": _narrow_bert}
EMBEDDED = "scenes"  # drawn by the package itself


def lay_out(
    root: Path, corpus: str, towers: set[str], of_towers: dict[str, Write] = TOWERS
) -> None:
    """Write what a recipe reads, unless it is there, or fail for what has no layout."""
    wanted = [] if corpus == EMBEDDED else [(corpus.removesuffix("/dataset_coco.json"), CORPORA)]
    for path, layouts in (*wanted, *((tower, of_towers) for tower in sorted(towers))):
        assert path in layouts, f"{path} has no layout; add one to tests/layouts/of_recipes.py"
        if not (root / path).exists():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            layouts[path](root / path)
