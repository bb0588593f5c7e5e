"""One name per split, whatever a corpus or a recipe calls it."""

from sys import intern

_SAME = dict.fromkeys(("val", "valid", "validation", "dev"), "val") | {"restval": "train"}


def split_name(word: str) -> str:
    """The name a split has in every corpus: ``dev`` is ``val``, and COCO's ``restval`` trains.

    >>> split_name("dev"), split_name("restval"), split_name("testall")
    ('val', 'train', 'testall')
    """
    return intern(_SAME.get(word, word))
