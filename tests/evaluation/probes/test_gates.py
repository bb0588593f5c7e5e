"""Gates are measured on matching pairs and on the same images with texts that do not fit."""

from pathlib import Path

import numpy as np
import pytest
import torch

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.evaluation.probes.gates import gate_measures, looked_at
from deixis.evaluation.probes.scoring_cost import Scoring
from deixis.features.store.packed import PackedRegions, PackedTokens
from deixis.similarity.camp_fusion import GatedFusion
from deixis.similarity.scan_attention import CrossAttention
from deixis.types import Embedding


def dataset_of(images: int, also: list[tuple[int, int]] = ()) -> Dataset:
    """Two texts per image, image-major; ``also`` adds further pairs that fit."""
    texts = np.arange(2 * images)
    own = np.stack([texts // 2, texts], axis=1)
    corpus = Corpus(
        name="made up",
        root=Path(),
        files=tuple(f"{i}.jpg" for i in range(images)),
        texts=tuple(f"text {t}" for t in texts),
        owners=texts // 2,
        pairs=np.concatenate([own, np.array(also, dtype=own.dtype).reshape(-1, 2)]),
        splits=("test",) * images,
    )
    regions = PackedRegions(np.zeros((images, 4), np.float32), np.arange(images + 1))
    tokens = PackedTokens(np.zeros(2 * images, np.int32), np.arange(2 * images + 1))
    return Dataset(corpus, regions, tokens, np.arange(images), texts)


def test_swapped_texts_are_the_next_that_do_not_fit():
    matching, swapped = looked_at(dataset_of(4, also=[(0, 2), (3, 0)]))
    assert matching.tolist() == [[0, 0], [1, 2], [2, 4], [3, 6]]
    assert swapped.tolist() == [[0, 4], [1, 4], [2, 6], [3, 2]]


def test_an_image_every_text_fits_is_not_swapped():
    _, swapped = looked_at(dataset_of(2, also=[(0, 2)]))
    assert swapped.tolist() == [[1, 0]]


def test_the_measures_are_means_over_the_gates_of_all_parts_in_percent():
    similarity = GatedFusion(4, "sum", attend=True, squash=False)
    images = Embedding(torch.randn(3, 5, 4), torch.ones(3, 5, dtype=torch.bool))
    texts = Embedding(torch.randn(6, 2, 4), torch.ones(6, 2, dtype=torch.bool))
    found = gate_measures(Scoring(similarity, images, texts), dataset_of(3))
    gates = []
    for image in range(3):
        v, w = images.vectors[image], texts.vectors[2 * image]
        logits = similarity.image_key(v) @ similarity.text_key(w).T / 2.0
        gates += [torch.sigmoid(v * (logits.softmax(1) @ w)).mean(1)]
        gates += [torch.sigmoid(w * (logits.T.softmax(1) @ v)).mean(1)]
    assert found["gate"] == pytest.approx(100 * torch.cat(gates).mean().item(), abs=1e-4)
    assert found["gate_swapped"] != pytest.approx(found["gate"], abs=1e-4)


def test_what_has_no_gates_has_no_measures():
    one = Embedding(torch.randn(2, 3, 4), torch.ones(2, 3, dtype=torch.bool))
    similarity = CrossAttention("t2i", 9.0, "mean", 6.0)
    two = Embedding(torch.randn(4, 3, 4), torch.ones(4, 3, dtype=torch.bool))
    assert gate_measures(Scoring(similarity, one, two), dataset_of(2)) == {}
