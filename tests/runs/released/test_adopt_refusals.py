"""A released file that does not fit is refused by name, and leaves nothing behind."""

import pytest
import torch
from released_goldens import (
    adopted,
    dive_state,
    same,
    scan_sides,
    weights_of,
    write_flat,
    write_list,
)

from deixis.errors import DataError, RunError
from deixis.runs.released.adopt_checkpoint import read_settings
from slot_goldens import tensors


def test_a_checkpoint_of_another_method_is_refused_by_the_name_that_does_not_fit(golden, tmp_path):
    path = write_list(tmp_path / "m", *scan_sides(tensors(golden("camp/scan_encoders"))))
    with pytest.raises(RunError, match="has no 'img_enc.pie_net.attention.w_2.weight'"):
        adopted(tmp_path, "pvse", path, words=30)
    assert not (tmp_path / "run").exists()


def test_a_name_nobody_maps_is_refused_not_dropped(golden, tmp_path):
    image, text = scan_sides(tensors(golden("camp/scan_encoders")))
    path = write_list(tmp_path / "m", {**image, "extra.weight": torch.ones(2)}, text)
    with pytest.raises(RunError, match="'img_enc.extra.weight'"):
        adopted(tmp_path, "scan", path, words=30)


def test_a_layer_that_ours_does_not_have_is_refused(golden, tmp_path):
    image, text = scan_sides(tensors(golden("camp/scan_encoders")))
    text |= {name.replace("_l0", "_l1"): value for name, value in text.items() if "_l0" in name}
    path = write_list(tmp_path / "m", image, text)
    with pytest.raises(RunError, match=r"does not fit: it has text\.body\.gru\.\w+_l1\w* besides"):
        adopted(tmp_path, "scan", path, words=30)
    assert not (tmp_path / "run").exists()


def test_a_vocabulary_of_another_size_is_refused(golden, tmp_path):
    path = write_list(tmp_path / "m", *scan_sides(tensors(golden("camp/scan_encoders"))))
    with pytest.raises(DataError, match="vectors of 30 words, the vocabulary 12"):
        adopted(tmp_path, "scan", path, words=12)


def test_words_reach_the_vectors_they_had(golden, tmp_path):
    arrays = tensors(golden("camp/scan_encoders"))
    path = write_list(tmp_path / "m", *scan_sides(arrays))
    matcher = adopted(tmp_path, "scan", path, words=30)
    assert matcher.vocabulary.splitting == "treebank"
    ids = matcher.vocabulary(["W7 w29, unheard"]).ids.tolist()
    vectors = matcher.model.text.body.embed.weight[ids]
    same(vectors, arrays["embedding"][[1, 7, 29, 3, 3, 2]])


@pytest.mark.parametrize(
    ("name", "value"),
    [("measure", "order"), ("use_abs", True), ("no_imgnorm", True), ("no_txtnorm", True)],
)
@pytest.mark.parametrize("method", ["vsepp", "scan", "vsrn", "bfan", "vse_infinity"])
def test_a_model_that_compares_otherwise_than_by_cosines_is_refused(
    golden, tmp_path, method, name, value
):
    sides = scan_sides(tensors(golden("camp/scan_encoders")))
    path = write_list(tmp_path / "m", *sides, **{name: value})
    with pytest.raises(RunError, match=f"trained with {name} = {value!r}"):
        adopted(tmp_path, method, path, words=30)
    assert not (tmp_path / "run").exists()


def test_the_options_of_a_model_that_compares_by_cosines_are_no_obstacle(golden, tmp_path):
    image = weights_of(golden("aoq/vsrn_image_coco"))
    text = weights_of(golden("aoq/vsrn_text"))
    options = {"measure": "cosine", "use_abs": False, "no_imgnorm": False, "margin": 0.2}
    adopted(tmp_path, "vsrn", write_list(tmp_path / "m", image, text, **options), words=15)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("img_res_pool", "avg"),
        ("txt_pooling", "max"),
        ("spm_img_pos_enc_type", "sine"),
        ("spm_txt_pos_enc_type", "none"),
        ("spm_activation", "relu"),
        ("img_res_first_pool", True),
        ("temperature_txt_scale", 2.0),
        ("loss", "mp"),
    ],
)
def test_a_dive_whose_options_change_vectors_but_no_weight_is_refused(
    golden, tmp_path, name, value
):
    path = write_flat(tmp_path / "m", dive_state(golden)[0], **{name: value})
    with pytest.raises(RunError, match=f"{name} = {value!r}: wanted"):
        adopted(tmp_path, "dive", path, words=20)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["options.json", "options.yaml"])
@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff\xfe\x00", None])
def test_options_that_cannot_be_read_are_refused(tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(RunError, match=f"{name} cannot be read"):
        read_settings(tmp_path / name)
