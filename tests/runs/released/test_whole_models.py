"""Whole released models, both sides: vectors and scores are those the published code computed."""

import pytest
import torch
from released_goldens import adopted, regions, same, write_flat, write_list
from whole_models import cnn_folder, whole_model

from deixis.errors import RunError
from deixis.methods.pvse import PVSE
from deixis.types import Tokens
from tiny_towers import tiny_bert


def region_sides(model, matcher, ids):
    """Both sides of a VSE∞ over regions; padded regions hold noise."""
    given, counts = model.arrays["regions"], model.arrays["region_counts"]
    there = torch.arange(given.shape[1]) < counts.unsqueeze(1)
    image = regions(torch.where(there.unsqueeze(2), given, torch.randn(())), counts)
    return matcher.model.image(image), matcher.model.text(Tokens(ids, model.there()))


def compare(model, matcher, image, text, prefix=""):
    golden = model.arrays
    same(image.vectors.squeeze(1), golden[f"{prefix}image_embeddings"])
    same(text.vectors.squeeze(1), golden[f"{prefix}text_embeddings"])
    same(matcher.model.similarity(image, text), golden[f"{prefix}scores"])


@pytest.mark.parametrize("wrapped", ["", "module."])
@pytest.mark.parametrize("legacy", [False, True])
def test_vse_infinity_over_regions_and_words(golden, tmp_path, wrapped, legacy):
    model = whole_model(golden, "vse_infinity_gru")
    sides = (model.side(side, wrapped) for side in ("img_enc.", "txt_enc."))
    path = write_list(tmp_path / "model_best.pth", *sides, legacy=legacy, margin=0.2)
    matcher = adopted(tmp_path, "vse_infinity", path, words=model.words)
    compare(model, matcher, *region_sides(model, matcher, model.own_ids()))


def test_vse_infinity_whose_last_word_was_added_for_masking(golden, tmp_path):
    model = whole_model(golden, "vse_infinity_gru")
    path = write_list(tmp_path / "m", model.side("img_enc."), model.side("txt_enc."))
    matcher = adopted(tmp_path, "vse_infinity", path, words=model.words - 1)
    assert (model.arrays["ids"] == model.words - 1).any(), "the golden reads its last word"
    ids = torch.where(model.arrays["ids"] == model.words - 1, 4, model.own_ids())
    compare(model, matcher, *region_sides(model, matcher, ids))


def test_vse_infinity_over_regions_and_bert(golden, tmp_path):
    model = whole_model(golden, "vse_infinity_bert")
    path = write_list(tmp_path / "m", model.side("img_enc."), model.side("txt_enc."), margin=0.2)
    folder = tiny_bert(tmp_path / "bert")  # other weights, the same architecture
    matcher = adopted(tmp_path, "vse_infinity", path, text=f"tuned:{folder}")
    ids = torch.where(model.there(), model.arrays["ids"], 7)
    compare(model, matcher, *region_sides(model, matcher, ids))


def adopt_vsepp(tmp_path, model, **image):
    """A VSE++ over its own CNN, which its authors wrapped for several GPUs."""
    sides = (model.side(side) for side in ("img_enc.", "txt_enc."))
    options = {"margin": 0.2, "measure": "cosine", "max_violation": True, "cnn_type": "resnet152"}
    path = write_list(tmp_path / "model_best.pth.tar", *sides, **options)
    return adopted(tmp_path, "vsepp", path, words=model.words, **image)


def test_vsepp_with_its_cnn(golden, tmp_path):
    model = whole_model(golden, "vsepp")
    folder = cnn_folder(tmp_path / "cnn", model.side("img_enc.cnn.module."), "resnet152", 224)
    matcher = adopt_vsepp(tmp_path, model, image=f"tuned:{folder}")
    text = matcher.model.text(Tokens(model.own_ids(), model.there()))
    compare(model, matcher, matcher.model.image(regions(model.pixels())), text)


def test_vsepp_over_what_its_cnn_made_of_pictures(golden, tmp_path):
    """The CNN is left out: cells are averaged and scaled, and so is one vector of any length."""
    model = whole_model(golden, "vsepp")
    folder = cnn_folder(tmp_path / "cnn", model.side("img_enc.cnn.module."), "resnet152", 224)
    (tmp_path / "one").mkdir()
    tower = adopt_vsepp(tmp_path / "one", model, image=f"tuned:{folder}").model.image
    cells = tower.patches(regions(model.pixels())).values
    matcher = adopt_vsepp(tmp_path, model, image="regions")
    for given in (cells, 3.0 * cells.mean(dim=1, keepdim=True)):
        found = matcher.model.image(regions(given)).vectors.squeeze(1)
        same(found, model.arrays["image_embeddings"])


def adopted_pvse(tmp_path, model, path, parts=3):
    cnn = model.side("img_enc.cnn.")
    folder = cnn_folder(tmp_path / "cnn", cnn, "resnet152", 224)
    matcher = adopted(tmp_path, "pvse", path, words=model.words, image=f"tuned:{folder}")
    assert matcher.config.method["parts"] == parts
    text = matcher.model.text(Tokens(model.own_ids(), model.there()))
    return matcher, matcher.model.image(regions(model.pixels())), text


@pytest.mark.parametrize("plain", [False, True])
def test_pvse_with_its_cnn(golden, tmp_path, plain):
    model = whole_model(golden, "pvse")
    path = tmp_path / "coco_pvse.pth"
    torch.save(model.state, path) if plain else write_flat(path, model.state, order=False)
    compare(model, *adopted_pvse(tmp_path, model, path))


def test_pvse_of_one_vector_per_item(golden, tmp_path):
    model = whole_model(golden, "pvse")
    first = {n: v[:1] if n.endswith("w_2.weight") else v for n, v in model.state.items()}
    path = write_flat(tmp_path / "m", first)
    compare(model, *adopted_pvse(tmp_path, model, path, parts=1), prefix="k1_")


def test_pvse_differs_from_the_published_code_where_that_reads_backward_and_there_alone(
    golden, tmp_path
):
    """Ours reads backward from the last word to the first; one word is read alike."""
    model = whole_model(golden, "pvse")
    matcher, _, _ = adopted_pvse(tmp_path, model, write_flat(tmp_path / "m", model.state))
    config = matcher.config
    options = {k: v for k, v in config.method.items() if k not in ("name", "summary")}
    ours = PVSE(**options, summary="ends").model(config.sizes).text.eval()
    ours.load_state_dict(matcher.model.text.state_dict())
    for words in (1, 2, 7):
        tokens = Tokens(model.own_ids()[:1, :words], torch.ones(1, words, dtype=torch.bool))
        alike = torch.allclose(ours(tokens).vectors, matcher.model.text(tokens).vectors, atol=1e-5)
        assert alike == (words == 1)


def with_every_iteration(state):
    """A DivE's weights under every name: the published code stores an iteration's four times."""
    first = "agg_block.layers.0."
    later = (f"agg_block.layers.{number}." for number in (1, 2, 3))
    return state | {k.replace(first, name): v for name in later for k, v in state.items()}


@pytest.mark.parametrize(
    ("loss", "scores"),
    [("smooth_chamfer", "scores"), ("chamfer", "chamfer_scores"), ("max", "best_scores")],
)
def test_dive_over_a_grid_and_bert(golden, tmp_path, loss, scores):
    model = whole_model(golden, "dive_grid_bert")
    options = {"img_res_pool": "avg", "txt_pooling": "max", "spm_img_pos_enc_type": "sine"}
    path = write_flat(
        tmp_path / "m", with_every_iteration(model.state), temperature=16.0, loss=loss, **options
    )
    cnn = cnn_folder(tmp_path / "cnn", model.side("img_enc.cnn."), "resnext101_32x8d", 224)
    towers = {"image": f"tuned:{cnn}", "text": f"tuned:{tiny_bert(tmp_path / 'bert')}"}
    matcher = adopted(tmp_path, "dive", path, **towers)
    image = matcher.model.image(regions(model.pixels()))
    ids = torch.where(model.there(), model.arrays["ids"], 7)
    text = matcher.model.text(Tokens(ids, model.there()))
    same(image.vectors, model.arrays["image_embeddings"])
    same(text.vectors, model.arrays["text_embeddings"])
    same(matcher.model.similarity(image, text), model.arrays[scores])


def test_camp_with_its_fusion(golden, tmp_path):
    model = whole_model(golden, "camp")
    sides = (model.side(side, "module.") for side in ("img_enc.", "txt_enc.", "sim."))
    path = write_list(tmp_path / "model_best.pth.tar", *sides)
    settings = tmp_path / "config.yaml"
    settings.write_text("common:\n  measure: gate_fusion_new\n  no_imgnorm: True\n")
    matcher = adopted(tmp_path, "camp_released", path, words=model.words, settings=settings)
    image = matcher.model.image(regions(model.arrays["regions"]))
    text = matcher.model.text(Tokens(model.own_ids(), model.there()))
    same(image.vectors, model.arrays["image_embeddings"])
    same(text.vectors * model.there().unsqueeze(2), model.arrays["text_embeddings"])
    # The published code ends in the sigmoid of what is a score here.
    same(matcher.model.similarity(image, text).sigmoid(), model.arrays["scores"])


@pytest.mark.parametrize("name", ["no_imgnorm", "no_txtnorm"])
def test_camp_that_scales_regions_or_words_is_refused(golden, tmp_path, name):
    model = whole_model(golden, "camp")
    sides = (model.side(side, "module.") for side in ("img_enc.", "txt_enc.", "sim."))
    path = write_list(tmp_path / "m", *sides, no_imgnorm=True, no_txtnorm=True)
    settings = tmp_path / "config.yaml"
    settings.write_text(f"common:\n  {name}: False\n")
    with pytest.raises(RunError, match=f"trained with {name} = False: wanted True"):
        adopted(tmp_path, "camp_released", path, words=model.words, settings=settings)


def test_pvse_that_orders_is_refused(golden, tmp_path):
    model = whole_model(golden, "pvse")
    path = write_flat(tmp_path / "m", model.state, order=True)
    with pytest.raises(RunError, match="trained with order = True"):
        adopted(tmp_path, "pvse", path, words=model.words)
