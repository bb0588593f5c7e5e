"""The network inside a released checkpoint comes along where its architecture is named."""

import pytest
import torch
from released_goldens import adopted, dive_state, regions, under, write_flat, write_list
from whole_models import whole_model

from deixis.errors import FeatureError, RunError
from tiny_towers import tiny_resnext


def test_a_cnn_inside_a_checkpoint_comes_along(golden, tmp_path):
    folder = tiny_resnext(tmp_path / "resnext")
    published = {
        name.removeprefix("weight."): torch.from_numpy(value) + 0.05
        for name, value in golden("dive/timm_resnext").items()
        if name.startswith("weight.") and ".fc." not in name
    }
    state = dive_state(golden)[0]
    width = state["img_enc.fc.weight"].shape[0]
    state["img_enc.fc.weight"] = torch.randn(width, 32)  # the CNN here has 32 features
    path = write_flat(tmp_path / "m", state | under("img_enc.cnn.", published))
    words = len(state["txt_enc.embed.weight"])
    matcher = adopted(tmp_path, "dive", path, words=words, image=f"tuned:{folder}@64")
    tower = matcher.model.image.tower.model
    assert all(tower.state_dict()[name].equal(value) for name, value in published.items())
    assert matcher.model.image.inner.state_dict()
    found = matcher.model.image(regions(255 * torch.rand(2, 64 * 64, 3)))
    assert found.vectors.isfinite().all() and not found.vectors[0].equal(found.vectors[1])


def test_a_cnn_is_left_out_where_features_are_named(golden, tmp_path):
    model = whole_model(golden, "pvse")
    path = write_flat(tmp_path / "m", model.state)
    matcher = adopted(tmp_path, "pvse", path, words=model.words, image="hf:some/resnet152")
    image = matcher.model.image(regions(torch.rand(2, 49, 64)))
    assert image.vectors.shape == (2, 3, 16)


def test_a_folder_that_is_not_there_is_named(golden, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    path = write_flat(tmp_path / "m", whole_model(golden, "pvse").state)
    with pytest.raises(FeatureError, match="there is nothing at data/resnet152; put the folder"):
        adopted(tmp_path, "pvse", path, words=13, image="tuned:data/resnet152")


def test_a_bert_without_a_folder_of_its_architecture_is_refused(golden, tmp_path):
    model = whole_model(golden, "vse_infinity_bert")
    path = write_list(tmp_path / "m", model.side("img_enc."), model.side("txt_enc."))
    with pytest.raises(RunError, match="for BERT tuned:"):
        adopted(tmp_path, "vse_infinity", path)
    with pytest.raises(RunError, match="holds a BERT of its own"):
        adopted(tmp_path, "vse_infinity", path, text="minilm")
