"""A released checkpoint goes from the authors' files to recalls on the field's own arrays."""

import argparse
import json
import pickle

import pytest
import torch
from test_thread import call
from torch import nn

from deixis.errors import RunError
from layouts.scan_arrays import write_scan_arrays
from layouts.scene_topics import THINGS, VERBS


class Vocabulary:
    """As the authors pickle it."""


def write_checkpoint(folder, words):
    image, reader = nn.Linear(16, 12), nn.GRU(10, 12, batch_first=True, bidirectional=True)
    text = {"embed.weight": torch.randn(len(words), 10)}
    text |= {f"rnn.{name}": value for name, value in reader.state_dict().items()}
    sides = [{f"fc.{name}": value for name, value in image.state_dict().items()}, text]
    options = argparse.Namespace(cross_attn="i2t", agg_func="Mean", lambda_softmax=4.0)
    torch.save({"model": sides, "opt": options}, folder / "model_best.pth.tar")
    vocabulary = Vocabulary()
    vocabulary.word2idx = {word: number for number, word in enumerate(words)}
    (folder / "vocab.pkl").write_bytes(pickle.dumps(vocabulary, 2))


def test_adopt_then_evaluate(tmp_path):
    corpus = write_scan_arrays(tmp_path / "f30k_precomp")
    words = ["<pad>", "<start>", "<end>", "<unk>", "a", "near", ".", *THINGS, *VERBS]
    write_checkpoint(tmp_path, words)
    run = tmp_path / "run"
    files = (tmp_path / "model_best.pth.tar", run, "--vocabulary", tmp_path / "vocab.pkl")
    adopted = json.loads(call("adopt", *files, "--method", "scan", "--json"))
    assert adopted == {"folder": str(run)}
    record = json.loads((run / "config.json").read_text())
    assert record["method"]["direction"] == "i2t"
    arguments = ("--corpus", corpus, "--split", "test", "--threads", 1, "--json")
    found = json.loads(call("evaluate", run, *arguments))
    (result,) = found.values()
    assert 0 < result["measures"]["rsum"] <= 600
    with pytest.raises(RunError, match="--method vsrn"):
        call("adopt", *files)
