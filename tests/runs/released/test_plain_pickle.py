"""Pickles are read as data: hostile ones are refused and nothing in them ever runs."""

import argparse
import collections
import contextlib
import io
import os
import pickle
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.errors import DataError
from deixis.runs.released.checkpoint_file import Storage, View, _made, read_checkpoint
from deixis.runs.released.plain_pickle import Allowed, read_plain
from deixis.runs.released.vocabulary_file import own_vocabulary, read_words


class Vocabulary:
    """As VSE++ pickles it."""

    def __init__(self, words):
        self.word2idx = {word: number for number, word in enumerate(words)}
        self.idx2word = dict(enumerate(words))
        self.idx = len(words)


class Hostile:
    """A pickle that writes a file when it is loaded."""

    def __init__(self, call, *arguments):
        self.recipe = call, arguments

    def __reduce__(self):
        return self.recipe


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)


@settings(max_examples=200, deadline=None)
@given(value=PLAIN, protocol=st.integers(2, pickle.HIGHEST_PROTOCOL))
def test_plain_data_comes_back_as_it_was(value, protocol):
    allowed = Allowed({"_codecs.encode": lambda text, *_: text.encode("latin-1"),
                       "builtins.bytes": bytes, "__builtin__.bytes": bytes})  # fmt: skip
    assert read_plain(io.BytesIO(pickle.dumps(value, protocol)), allowed, "it") == value


def attacks(mark):
    touch = f"touch {mark}"
    source = f"open({str(mark)!r}, 'w')"
    return [
        Hostile(os.system, touch),
        Hostile(eval, source),
        Hostile(exec, source),
        Hostile(getattr, "", "join"),
        Hostile(__import__, "os"),
        {"word2idx": Hostile(os.system, touch)},
        [Hostile(open, str(mark), "w")],
        Hostile(collections.OrderedDict, [(Hostile(eval, source), 1)]),
        Hostile(collections.Counter, "abc"),
        Hostile(pickle.loads, pickle.dumps(Hostile(os.system, touch))),
    ]


RAW = {
    "an instance by name": b"(S'touch {}'\nios\nsystem\n.",
    "an object by name": b"(cos\nsystem\nS'touch {}'\no.",
    "a call by name": b"cos\nsystem\n(S'touch {}'\ntR.",
    "a name put together": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x01x\x85R.",
    "an extension": b"\x80\x02\x82\x01.",
    "something outside": b"Pnowhere\n.",
    "an attribute filled in": b"\x80\x02cbuiltins\nobject\n)\x81}(U\x01aK\x01ub.",
    "a text called": b"\x80\x02X\x02\x00\x00\x00os(U\x01atR.",
    "a list filled as a table": b"\x80\x02](U\x01aK\x01u.",
    "no end": b"\x80\x02]",
    "nothing at all": b"",
    "an empty stack": b"\x80\x020.",
    "a memory never filled": b"\x80\x02h\x05.",
    "a length beyond the file": b"\x80\x02X\xff\xff\xff\x7fa.",
}


@pytest.mark.parametrize("number", range(10))
def test_a_vocabulary_that_asks_for_code_is_refused_and_runs_nothing(tmp_path, number):
    mark = tmp_path / "ran"
    path = tmp_path / "vocabulary.pkl"
    path.write_bytes(pickle.dumps(attacks(mark)[number]))
    with pytest.raises(DataError, match="cannot be read safely"):
        read_words(path)
    assert not mark.exists()


@pytest.mark.parametrize("name", RAW)
def test_hand_made_pickles_are_refused(tmp_path, name):
    mark = tmp_path / "ran"
    path = tmp_path / "vocabulary.pkl"
    path.write_bytes(RAW[name].replace(b"{}", str(mark).encode()))
    with pytest.raises(DataError):
        read_words(path)
    with pytest.raises(DataError):
        read_checkpoint(path)
    assert not mark.exists()


@settings(max_examples=300, deadline=None)
@given(noise=st.binary(max_size=200))
def test_noise_is_refused_with_a_sentence_or_read_as_plain_data(noise):
    with contextlib.suppress(DataError):
        read_plain(io.BytesIO(noise), Allowed(), "it")


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("number", range(10))
def test_a_checkpoint_that_asks_for_code_is_refused_and_runs_nothing(tmp_path, legacy, number):
    mark, path = tmp_path / "ran", tmp_path / "model.pth.tar"
    content = {"model": {"w": torch.ones(2)}, "opt": attacks(mark)[number]}
    torch.save(content, path, _use_new_zipfile_serialization=not legacy)
    with pytest.raises(DataError, match="cannot be read safely"):
        read_checkpoint(path)
    assert not mark.exists()


@pytest.mark.parametrize("legacy", [False, True])
def test_checkpoints_of_every_format_give_torchs_own_tensors(tmp_path, legacy):
    base = torch.arange(24.0).reshape(4, 6)
    state = {
        "whole": base,
        "view": base[1:, ::2],
        "turned": base.T,
        "half": base.half(),
        "long": torch.tensor(7),
        "double": base.double(),
        "parameter": torch.nn.Parameter(torch.ones(2, 2)),
        "empty": torch.zeros(0, 3),
    }
    content = {
        "model": collections.OrderedDict(state),
        "opt": argparse.Namespace(margin=0.2, name="coco", steps=[1, 2]),
        "best_rsum": np.float64(401.5),
    }
    path = tmp_path / "model.pth.tar"
    torch.save(content, path, _use_new_zipfile_serialization=not legacy)
    found = read_checkpoint(path)
    assert found.settings == {"margin": 0.2, "name": "coco", "steps": [1, 2]}
    assert found.weights.keys() == state.keys()
    for name, value in state.items():
        assert found.weights[name].equal(value.detach()), name
        assert found.weights[name].dtype == value.dtype


def test_a_view_that_reaches_beyond_its_numbers_is_refused(tmp_path):
    path = tmp_path / "model.pth"
    torch.save({"w": torch.ones(64)}, path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part[:8] if name.endswith("/data/0") else part)
    with pytest.raises(DataError, match="reaches beyond"):
        read_checkpoint(path)


@pytest.mark.parametrize("shape", [(1 << 40,), (1 << 20, 1 << 20), (3, 1)])
def test_a_view_that_repeats_its_numbers_is_refused_before_it_takes_memory(shape):
    view = View(Storage("0", "<f4", 2), 0, shape, (0,) * len(shape))
    with pytest.raises(DataError, match="repeats its 2 numbers"):
        view.tensor(bytes(8))


def test_an_expanded_tensor_is_refused_by_the_name_of_its_file(tmp_path):
    torch.save({"w": torch.ones(1).expand(1 << 40)}, tmp_path / "bomb.pth")
    with pytest.raises(DataError, match=r"bomb\.pth: .* repeats its 1 numbers"):
        read_checkpoint(tmp_path / "bomb.pth")


def test_numbers_that_no_array_can_be_are_refused(tmp_path):
    for strides, content in (((1, 1), bytes(16)), ((1,), bytes(15))):
        view = View(Storage("0", "<f4", 4), 0, (4,), strides)
        with pytest.raises(DataError, match="m.pth"):
            _made(view, {"0": content}, tmp_path / "m.pth")


def test_a_compressed_checkpoint_is_refused_before_it_unpacks(tmp_path):
    path = tmp_path / "model.pth"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/data.pkl", pickle.dumps({}))
        archive.writestr("m/data/0", bytes(1 << 20))
    with pytest.raises(DataError, match="is compressed"):
        read_checkpoint(path)


@pytest.mark.parametrize("count", [1 << 40, 1 << 62, -1])
def test_an_old_checkpoint_that_counts_more_numbers_than_it_has_is_refused(tmp_path, count):
    path = tmp_path / "model.pth"
    torch.save({"w": torch.ones(64)}, path, _use_new_zipfile_serialization=False)
    own = (64).to_bytes(8, "little") + torch.ones(64).numpy().tobytes()
    assert path.read_bytes().endswith(own)
    path.write_bytes(path.read_bytes().removesuffix(own) + count.to_bytes(8, "little", signed=True))
    with pytest.raises(DataError, match="cut short"):
        read_checkpoint(path)


def test_a_vocabulary_nested_too_deeply_is_refused(tmp_path):
    path = tmp_path / "vocab.json"
    path.write_text("[" * 100_000)
    with pytest.raises(DataError, match="is not JSON"):
        read_words(path)


def test_a_checkpoint_cut_short_is_refused(tmp_path):
    path = tmp_path / "model.pth"
    torch.save({"w": torch.ones(64)}, path, _use_new_zipfile_serialization=False)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="cut short"):
        read_checkpoint(path)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickled_vocabulary_object_is_read_as_its_words(tmp_path, protocol):
    words = ["<pad>", "<start>", "<end>", "<unk>", "café", "dog"]
    path = tmp_path / "f30k_precomp_vocab.pkl"
    path.write_bytes(pickle.dumps(Vocabulary(words), protocol))
    assert read_words(path) == words


def test_words_of_python_2_are_utf8(tmp_path):
    path = tmp_path / "vocab.pkl"
    path.write_bytes(b"\x80\x02]q\x00(U\x05caf\xc3\xa9U\x03doge.")
    assert read_words(path) == ["café", "dog"]


def test_numbers_with_a_gap_are_refused(tmp_path):
    path = tmp_path / "vocab.json"
    path.write_text('{"word2idx": {"<pad>": 0, "dog": 2}}')
    with pytest.raises(DataError, match="not 0 to 1"):
        read_words(path)


def test_special_words_are_found_wherever_they_stand():
    table = torch.arange(6.0).unsqueeze(1)
    words = ["dog", "<unk>", "<pad>", "<end>", "<start>", "cat"]
    vocabulary, rows = own_vocabulary(words, table)
    assert rows[:, 0].tolist() == [2, 4, 3, 1, 0, 0, 5]
    assert vocabulary.words == ("dog", "cat")
