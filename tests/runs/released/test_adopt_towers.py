"""The network inside a released checkpoint comes along where its architecture is named."""

import pytest
import torch
import transformers
from released_goldens import (
    adopted,
    dive_state,
    pvse_state,
    regions,
    same,
    under,
    vse_infinity_sides,
    write_flat,
    write_list,
)

from deixis.errors import RunError
from deixis.types import Tokens
from slot_goldens import tensors
from tiny_towers import WORDS, tiny_bert, tiny_resnext


@pytest.mark.parametrize("method", ["pvse", "dive"])
def test_a_cnn_inside_a_checkpoint_comes_along(golden, tmp_path, method):
    folder = tiny_resnext(tmp_path / "resnext")
    published = {
        name.removeprefix("weight."): torch.from_numpy(value) + 0.05
        for name, value in golden("dive/timm_resnext").items()
        if name.startswith("weight.") and ".fc." not in name
    }
    state = dive_state(golden)[0] if method == "dive" else pvse_state(golden)
    state = {name: value for name, value in state.items() if ".cnn." not in name}
    width = state["img_enc.fc.weight"].shape[0]
    state["img_enc.fc.weight"] = torch.randn(width, 32)  # the CNN here has 32 features
    if method == "pvse":
        state["img_enc.pie_net.attention.w_1.weight"] = torch.randn(16, 32)
        state["img_enc.pie_net.attention.w_2.weight"] = torch.randn(4, 16)
        state["img_enc.pie_net.fc.weight"] = torch.randn(width, 32)
    path = write_flat(tmp_path / "m", state | under("img_enc.cnn.", published))
    words = len(state["txt_enc.embed.weight"])
    matcher = adopted(tmp_path, method, path, words=words, image=f"tuned:{folder}@64")
    tower = matcher.model.image.tower.model
    assert all(tower.state_dict()[name].equal(value) for name, value in published.items())
    assert matcher.model.image.inner.state_dict()
    found = matcher.model.image(regions(255 * torch.rand(2, 64 * 64, 3)))
    assert found.vectors.isfinite().all() and not found.vectors[0].equal(found.vectors[1])


def bert_checkpoint(golden, tmp_path):
    """VSE∞ over BERT: golden images, a BERT and what reads its states, under published names."""
    arrays = tensors(golden("dive/vse_inf_image_region"))
    image, words = vse_infinity_sides(arrays)
    pool = {name: value for name, value in words.items() if name.startswith("gpool.")}
    torch.manual_seed(3)
    size = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
    config = transformers.BertConfig(
        **size, num_attention_heads=2, vocab_size=len(WORDS), max_position_embeddings=12
    )
    bert, linear = transformers.BertModel(config).eval(), torch.nn.Linear(16, 16)
    text = {**under("bert.", bert.state_dict()), **under("linear.", linear.state_dict()), **pool}
    return write_list(tmp_path / "m", image, text, margin=0.2), bert, linear


def test_a_bert_inside_a_checkpoint_comes_along_and_gives_its_own_states(golden, tmp_path):
    path, bert, linear = bert_checkpoint(golden, tmp_path)
    folder = tiny_bert(tmp_path / "bert")  # other weights, the same architecture
    model = adopted(tmp_path, "vse_infinity", path, text=f"tuned:{folder}").model
    ids = torch.tensor([[2, 5, 8, 10, 3], [2, 9, 3, 0, 0]])
    mask = ids > 0
    found = model.text(Tokens(ids, mask))
    states = linear(bert(ids, mask.long()).last_hidden_state)
    expected = model.text.inner.head(states, mask)
    same(found.vectors, expected.vectors)
    assert not found.vectors[0].equal(found.vectors[1])


def test_a_bert_without_a_folder_of_its_architecture_is_refused(golden, tmp_path):
    path, _, _ = bert_checkpoint(golden, tmp_path)
    with pytest.raises(RunError, match="for BERT tuned:"):
        adopted(tmp_path, "vse_infinity", path)
    with pytest.raises(RunError, match="holds a BERT of its own"):
        adopted(tmp_path, "vse_infinity", path, text="minilm")
