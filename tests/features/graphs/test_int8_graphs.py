"""The eight-bit graphs that come with deixis stay near the networks they were made from."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.errors import DataError, FeatureError
from deixis.features.backbones.efficientnet_lite import Lite0, Lite0Int8, Lite2, Lite2Int8
from deixis.features.backbones.minilm import MiniLM, MiniLMInt8
from deixis.features.graphs.activation_ranges import ranges_of
from deixis.features.graphs.lite_int8_graph import Scale
from deixis.features.graphs.minilm_int8_graph import MinilmInt8Graph
from deixis.features.graphs.packaged_graphs import graph_file
from deixis.runs.export import quantise_backbones

TEXTS = ["A black dog runs.", "Two children in red coats play with a ball by the sea.", "A cat."]


def smooth(side, count=3):
    """Pictures with large and small structure, as photographs have."""
    random = np.random.default_rng(0)
    pictures = []
    for _ in range(count):
        layers = [random.integers(0, 256, (n, n, 3), dtype=np.uint8) for n in (3, 12, 48)]
        grown = [Image.fromarray(one).resize((side, side)) for one in layers]
        mixed = Image.blend(Image.blend(grown[0], grown[1], 0.4), grown[2], 0.2)
        pictures.append(np.asarray(mixed))
    return pictures


def cosine(one, other):
    lengths = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
    return ((one * other).sum(axis=-1) / lengths.clip(1e-9))[lengths > 1e-6]


@pytest.mark.parametrize(
    ("small", "large", "fine"), [(Lite0Int8(), Lite0(), 14), (Lite2Int8(), Lite2(), 17)]
)
def test_image_networks_in_eight_bits_see_the_same(small, large, fine):
    pictures = smooth(large.side)
    ours, wanted = small.maps(pictures), large.maps(pictures)
    assert ours.middle.shape == (3, fine**2, large.width)
    assert cosine(ours.pooled, wanted.pooled).min() > 0.97
    assert np.median(cosine(ours.grid, wanted.grid)) > 0.93
    assert np.median(cosine(ours.middle, wanted.middle)) > 0.97
    assert not np.array_equal(ours.pooled, wanted.pooled)
    np.testing.assert_allclose(ours.pooled, ours.grid.mean(axis=1), atol=1e-5)


def test_company_does_not_change_what_is_seen():
    pictures = smooth(224)
    together, alone = Lite0Int8().maps(pictures), Lite0Int8().maps(pictures[1:2])
    np.testing.assert_array_equal(together.pooled[1:2], alone.pooled)


def test_the_text_network_in_eight_bits_reads_the_same():
    ours, wanted = MiniLMInt8()(TEXTS), MiniLM()(TEXTS)
    assert np.array_equal(ours.ids, wanted.ids)
    assert cosine(ours.pooled, wanted.pooled).min() > 0.998
    assert cosine(ours.values, wanted.values).min() > 0.99
    alone = MiniLMInt8()(TEXTS[1:2])
    np.testing.assert_allclose(alone.pooled, ours.pooled[1:2], atol=1e-6)


def test_precisions_are_told_apart():
    for small, large in ((Lite0Int8(), Lite0()), (Lite2Int8(), Lite2()), (MiniLMInt8(), MiniLM())):
        assert small.name != large.name
        assert small.identity()["weights"] != large.identity()["weights"]


def test_the_packaged_text_graph_is_what_the_command_makes():
    assert graph_file("minilm-int8").read_bytes() == MinilmInt8Graph(MiniLM().weights()).build()


def test_graphs_are_made_again_by_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(quantise_backbones, "PHOTOGRAPHS", 3)
    photographs, made = tmp_path / "photographs", tmp_path / "made"
    (photographs / "train").mkdir(parents=True)
    paths = []
    for number, pixels in enumerate(smooth(260)):
        paths.append(photographs / "train" / f"{number}.png")
        Image.fromarray(pixels).save(paths[-1])
    with pytest.raises(DataError, match="2 photographs to calibrate on; 3 are needed"):
        quantise_backbones.quantise(paths[:2], tmp_path / "refused")
    load_verbs()
    asked = ["quantise", str(photographs), "--to", str(made), "--json"]
    done = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert [Path(graph["path"]).name for graph in json.loads(done.stdout)] == [
        "lite0-int8.onnx",
        "lite2-int8.onnx",
        "minilm-int8.onnx",
    ]
    assert (made / "made.json").is_file()
    monkeypatch.setattr("deixis.features.graphs.packaged_graphs.FOLDER", made)
    pictures = smooth(224)
    assert cosine(Lite0Int8().maps(pictures).pooled, Lite0().maps(pictures).pooled).min() > 0.97


def test_a_graph_that_is_not_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("deixis.features.graphs.packaged_graphs.FOLDER", tmp_path)
    with pytest.raises(FeatureError, match="deixis quantise CORPUS makes the graphs again"):
        Lite0Int8().identity()


def test_ranges_hold_every_value_seen_and_zero_is_exact():
    graph = Lite0().graph()
    built = graph.build(watch=True)
    pictures = smooth(224, 2)
    both = ranges_of(built, graph.watched, [{"pixels": one[None]} for one in pictures])
    first = ranges_of(built, graph.watched, [{"pixels": pictures[0][None]}])
    assert all(low <= first[key][0] and high >= first[key][1] for key, (low, high) in both.items())
    for low, high in ((-1.0, 3.0), (0.5, 2.0), (-3.0, -1.0), (0.0, 0.0)):
        scale = Scale.over(low, high)
        assert 0 <= scale.zero <= 255
        assert (0 - scale.zero) * scale.step <= low + scale.step
        assert (255 - scale.zero) * scale.step >= high - scale.step
