"""Carry word vectors of an earlier stage over to another vocabulary."""

from collections.abc import Mapping

from torch import Tensor, nn

from deixis.encoders.text.word_table import WordTable
from deixis.errors import RunError
from deixis.features.words.vocabulary import SPECIAL, Vocabulary


def carry_words(
    weights: Mapping[str, Tensor], model: nn.Module, before: Vocabulary, now: Vocabulary
) -> dict[str, Tensor]:
    """Weights of an earlier stage, with each word's vector moved to the word's new index.

    Words the earlier stage did not know keep the vector they start with; words that are gone are
    left behind. Two vocabularies without a word in common are refused: nothing would be carried.
    """
    if before.words == now.words:
        return dict(weights)
    old = {word: place for place, word in enumerate(SPECIAL + before.words)}
    known = [(new, old[word]) for new, word in enumerate(SPECIAL + now.words) if word in old]
    if len(known) == len(SPECIAL):
        raise RunError("the earlier stage and this one have no word in common")
    here, there = map(list, zip(*known, strict=True))
    moved = dict(weights)
    for name in _word_tables(model):
        if name in weights:
            table = model.state_dict()[name].clone()
            table[here] = weights[name][there].to(table.dtype)
            moved[name] = table
    return moved


def _word_tables(model: nn.Module) -> list[str]:
    return [
        f"{name}.weight" for name, module in model.named_modules() if isinstance(module, WordTable)
    ]
