import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from deixis.errors import DataError, RecipeError
from deixis.features.backbones.backbone import image_backbones, text_backbones
from deixis.features.backbones.efficientnet_lite import Lite0
from deixis.features.backbones.minilm import MiniLM
from deixis.features.store.extract import extract_images


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "regions").mkdir()
    np.save(tmp_path / "regions" / "values.npy", np.arange(12, dtype=np.float16).reshape(4, 3))
    np.save(tmp_path / "regions" / "offsets.npy", np.array([0, 1, 4]))
    np.save(tmp_path / "regions" / "boxes.npy", np.zeros((4, 5), dtype=np.float32))
    (tmp_path / "regions" / "files.json").write_text(json.dumps(["a/1.png", "b/1.png"]))
    return tmp_path


def test_names_are_known():
    names = ("cells", "cells-int8", "lite0", "lite0-int8", "lite2", "lite2-int8", "regions")
    assert image_backbones.names() == names
    assert text_backbones.names() == ("minilm", "minilm-int8", "words")
    with pytest.raises(RecipeError, match=f"known: {', '.join(names)}"):
        image_backbones.build("resnet", {})


def test_regions_of_a_corpus_are_found_by_file_name(corpus):
    regions = image_backbones.build("regions", {})
    paths = [corpus / "b" / "1.png", corpus / "a" / "1.png"]
    found = regions([regions.read(path) for path in paths])
    assert found.offsets.tolist() == [0, 3, 4]
    assert found.values[:, 0].tolist() == [3, 6, 9, 0]


def test_a_picture_without_regions_is_an_outcome_not_a_stop(corpus):
    paths = [corpus / "c.png", corpus / "a" / "1.png"]
    found = extract_images(image_backbones.build("regions", {}), paths, corpus / "cache", "c")
    assert found.offsets.tolist() == [0, 0, 1]
    with pytest.raises(DataError, match=r"does not list c\.png"):
        image_backbones.build("regions", {}).read(paths[0])


def test_pictures_outside_a_corpus_have_no_regions(tmp_path):
    with pytest.raises(DataError, match="no folder 'regions' beside or above it"):
        image_backbones.build("regions", {}).read(tmp_path / "a.png")


def test_regions_that_do_not_fit_are_refused(corpus):
    np.save(corpus / "regions" / "offsets.npy", np.array([0, 1]))
    with pytest.raises(DataError, match="do not fit"):
        image_backbones.build("regions", {}).read(corpus / "a" / "1.png")


def test_words_are_fitted_to_the_training_texts():
    vocabulary = text_backbones.build("words", {"minimum": 2}).fit(["a dog", "a cat"])
    assert vocabulary.words == ("a",)


def test_a_pretrained_text_backbone_fits_at_once():
    minilm = text_backbones.build("minilm", {})
    assert minilm.fit(["a dog"]) is minilm


def test_pictures_pass_through_a_real_network_into_the_cache(tmp_path):
    Image.new("RGB", (30, 20), "green").save(tmp_path / "a.png")
    (tmp_path / "b.png").touch()
    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    found = extract_images(image_backbones.build("lite0", {}), paths, tmp_path / "cache", "c")
    wanted = Lite0()([Lite0().read(paths[0])])
    assert found.offsets.tolist() == [0, 49, 49]
    assert np.allclose(found.values, wanted.values, atol=2e-3)
    assert np.allclose(found.boxes, wanted.boxes)
    assert not found.pooled[1].any()


def test_features_run_without_torch(tmp_path):
    Image.new("RGB", (30, 20), "green").save(tmp_path / "a.png")
    Lite0()([Lite0().read(tmp_path / "a.png")])  # the graph is built, once, with torch
    MiniLM()(["a dog"])
    code = (
        "import sys; from pathlib import Path;"
        "from deixis.features.backbones.backbone import image_backbones, text_backbones;"
        "import deixis.features.store.extract;"
        "lite = image_backbones.build('lite0', {});"
        f"lite([lite.read(Path({str(tmp_path / 'a.png')!r}))]);"
        "text_backbones.build('minilm', {})(['a dog']);"
        "assert 'torch' not in sys.modules and 'onnx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
