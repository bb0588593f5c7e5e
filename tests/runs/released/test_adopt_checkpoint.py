"""Released checkpoints of every method give, once adopted, what the published code gave."""

import pytest
import torch
from released_goldens import (
    adopted,
    dive_state,
    paired,
    regions,
    same,
    scan_sides,
    tokens,
    under,
    weights_of,
    write_flat,
    write_list,
)

from deixis.errors import RunError
from deixis.similarity.set_similarity import SmoothChamfer
from deixis.types import Embedding, Tokens
from slot_goldens import tensors


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize(
    ("cross_attn", "agg", "heat"), [("t2i", "LogSumExp", 9), ("i2t", "Mean", 4)]
)
def test_scan(golden, tmp_path, legacy, cross_attn, agg, heat):
    arrays = tensors(golden("camp/scan_encoders"))
    options = {"cross_attn": cross_attn, "agg_func": agg, "lambda_softmax": heat, "lambda_lse": 6.0}
    path = tmp_path / "model_best.pth.tar"
    write_list(path, *scan_sides(arrays), legacy=legacy, margin=0.2, **options)
    matcher = adopted(tmp_path, "scan", path, words=30)
    method = matcher.config.method
    assert (method["direction"], method["temperature"]) == (cross_attn, heat)
    image = matcher.model.image(regions(arrays["region_features"]))
    text = matcher.model.text(tokens(arrays["word_ids"], arrays["caption_lengths"]))
    same(image.vectors, arrays["image_embedding"])
    same(text.vectors, arrays["word_embedding"])


def test_scan_scores_golden_sets_as_the_published_code(golden, tmp_path):
    path = write_list(
        tmp_path / "m", *scan_sides(tensors(golden("camp/scan_encoders"))),
        cross_attn="t2i", agg_func="LogSumExp", lambda_softmax=9.0, lambda_lse=6.0,
    )  # fmt: skip
    similarity = adopted(tmp_path, "scan", path, words=30).model.similarity
    arrays = tensors(golden("camp/scan_scores"))
    images, texts = arrays["images"], arrays["captions"]
    mask = torch.arange(8) < arrays["caption_lengths"].unsqueeze(1)
    whole = torch.ones(images.shape[:2], dtype=torch.bool)
    scores = similarity(Embedding(images, whole), Embedding(texts, mask))
    same(scores, arrays["score__t2i__clipped_l2norm__LogSumExp"])


@pytest.mark.parametrize("focus", ["equal", "prob"])
@pytest.mark.parametrize("method", ["bfan", "aoq"])
def test_bfan_and_its_later_round(golden, tmp_path, focus, method):
    arrays = golden("aoq/bfan_text")
    text = weights_of(arrays)
    frozen = tensors(golden("camp/scan_encoders"))
    image = {"fc.weight": frozen["image_fc_weight"][:8], "fc.bias": frozen["image_fc_bias"][:8]}
    path = write_list(tmp_path / "m", image, text, focal_type=focus, lambda_softmax=20.0)
    matcher = adopted(tmp_path, method, path, words=15)
    arrays = tensors(arrays)
    found = matcher.model.text(tokens(arrays["ids"], arrays["lengths"]))
    same(found.vectors * found.mask.unsqueeze(2), arrays["out"])
    expected = frozen["image_embedding_unnormalised"][:, :, :8]
    expected = expected / expected.norm(dim=2, keepdim=True)
    same(matcher.model.image(regions(frozen["region_features"])).vectors, expected)
    sets = tensors(golden(f"aoq/bfan_{focus}"))
    mask = torch.arange(sets["cap"].shape[1]) < sets["cap_len"].unsqueeze(1)
    everywhere = torch.ones(sets["im"].shape[:2], dtype=torch.bool)
    images, texts = Embedding(sets["im"], everywhere), Embedding(sets["cap"], mask)
    same(matcher.model.similarity(images, texts), sets["sim"])


@pytest.mark.parametrize("corpus", ["coco", "f30k"])
@pytest.mark.parametrize("method", ["vsrn", "aoq"])
def test_vsrn_and_its_later_round(golden, tmp_path, corpus, method):
    arrays = golden(f"aoq/vsrn_image_{corpus}")
    words = golden("aoq/vsrn_text")
    path = write_list(tmp_path / "m", weights_of(arrays), weights_of(words), margin=0.2)
    # Unscaled, four steps of reasoning make numbers large enough to need 64 bits.
    model = adopted(tmp_path, method, path, words=15).model.double()
    arrays, words = tensors(arrays), tensors(words)
    image = model.image(regions(arrays["images"]))
    text = model.text(tokens(words["ids"], words["lengths"]))
    same(image.vectors[:, 0], arrays["feat_eval"])
    same(model.similarity(image, text), arrays["feat_eval"] @ words["out"].T)


def test_vsepp(golden, tmp_path):
    words, frozen = golden("aoq/vsrn_text"), tensors(golden("camp/scan_encoders"))
    image = {"fc.weight": frozen["image_fc_weight"][:8], "fc.bias": frozen["image_fc_bias"][:8]}
    text = weights_of(words)
    path = write_list(tmp_path / "m", image, text, margin=0.2, max_violation=True)
    model = adopted(tmp_path, "vsepp", path, words=15).model
    words = tensors(words)
    features = frozen["region_features"][:, :1]
    expected = frozen["image_embedding_unnormalised"][:, 0, :8]
    expected = expected / expected.norm(dim=1, keepdim=True)
    image, text = model.image(regions(features)), model.text(tokens(words["ids"], words["lengths"]))
    same(model.similarity(image, text), expected @ words["out"].T)


def test_dive_where_the_published_code_reads_no_padding(golden, tmp_path):
    state, image, text = dive_state(golden)
    path = write_flat(tmp_path / "m", state, temperature=16, margin=0.2)
    matcher = adopted(tmp_path, "dive", path, words=20)
    images = matcher.model.image(regions(image["regions"].float(), image["lengths"]))
    texts = matcher.model.text(tokens(text["token_ids"], text["lengths"]))
    whole, all_words = image["lengths"] == 5, text["lengths"] == 6
    same(images.vectors[whole], image["set_eval"][whole])
    same(texts.vectors[all_words], text["set_eval"][all_words])
    scores = matcher.model.similarity(images, texts)[whole][:, all_words]
    sets = image["set_eval"][whole].float(), text["set_eval"][all_words].float()
    same(scores, SmoothChamfer(16.0)(*sets))
    assert matcher.config.method["iterations"] == 4


def test_dive_whose_last_word_is_the_one_that_was_added_for_masking(golden, tmp_path):
    state, _, text = dive_state(golden)
    path = write_flat(tmp_path / "m", state)
    matcher = adopted(tmp_path, "dive", path, words=19)  # one less than the checkpoint has
    assert matcher.model.text.body.embed.weight[4].equal(text["embed"][19])


def test_dive_with_weights_of_their_own_in_each_iteration_is_refused(golden, tmp_path):
    state, _, _ = dive_state(golden)
    state["img_enc.spm.agg_block.layers.2.0.fn.to_q.weight"] = torch.zeros(2048, 16)
    with pytest.raises(RunError, match="iteration 2 has weights of its own"):
        adopted(tmp_path, "dive", write_flat(tmp_path / "m", state), words=20)


def camp_sides(arrays, fused):
    names = {}
    for side, other in (("img", "img"), ("txt", "txt")):
        names[f"{side}_key_fc"] = f"{other}_key"
        names[f"{side}_query_fc"] = f"{other}_query"
        names[f"weighted_{side}_key_fc"] = f"msg_{other}_key"
        names[f"weighted_{side}_query_fc"] = f"msg_{other}_query"
    if fused:
        names |= {"fc_1.0": "fuse_img", "fc_2.0": "fuse_txt"}
        names |= {"fc_out.0": "out_hidden", "fc_out.3": "out_score"}
        for number, side in ((1, "img"), (2, "txt")):
            names[f"final_reduce_{number}.linear.0"] = f"pool_{side}_hidden"
            names[f"final_reduce_{number}.linear.2"] = f"pool_{side}_score"
    plain = {
        key.removeprefix("weight_").replace("_W", "_w"): value for key, value in arrays.items()
    }
    image = {"fc.weight": torch.randn(16, 20), "fc.bias": torch.randn(16)}
    reader = torch.nn.GRU(10, 16, batch_first=True, bidirectional=True)
    text = {"embed.weight": torch.randn(9, 10), **under("rnn.", reader.state_dict())}
    return [under("module.", side) for side in (image, text, paired(plain, names))]


@pytest.mark.parametrize(
    ("golden_name", "stage"), [("gated_fusion_new", "fusion"), ("cross_attention_new", "messages")]
)
def test_camp(golden, tmp_path, golden_name, stage):
    arrays = tensors(golden(f"camp/camp_repo_{golden_name}"))
    path = write_list(tmp_path / "m", *camp_sides(arrays, stage == "fusion"))
    settings = tmp_path / "config.yaml"
    settings.write_text("common:\n  measure: gate_fusion_new\n")
    matcher = adopted(tmp_path, "camp_released", path, words=9, settings=settings)
    assert matcher.config.method["stage"] == stage
    everywhere = torch.ones(arrays["regions"].shape[:2], dtype=torch.bool)
    images = Embedding(arrays["regions"], everywhere)
    scores = matcher.model.similarity(images, Embedding(arrays["words"], arrays["word_mask"]))
    scores = scores.sigmoid() if stage == "fusion" else scores
    # The published first stage averages padding too; without any, both agree.
    whole = arrays["word_mask"].all(dim=1) | (stage == "fusion")
    same(scores[:, whole], arrays["score"][:, whole])


def test_dscmr(golden, tmp_path):
    arrays = golden("aoq/dscmr_single")
    path = tmp_path / "m"
    torch.save(weights_of(arrays), path)
    model = adopted(tmp_path, "dscmr", path, text="minilm").model
    arrays = tensors(arrays)
    image = model.image(regions(arrays["img"].float().unsqueeze(1)))
    words = arrays["txt"].float().unsqueeze(1)
    there = torch.ones(words.shape[:2], dtype=torch.bool)
    text = model.text(Tokens(there.long(), there, words))
    same(image.representation, arrays["v1"])
    same(text.representation, arrays["v2"])
    same(image.labels + 0.5, arrays["p1"])
