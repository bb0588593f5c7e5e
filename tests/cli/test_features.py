import json

import pytest
from PIL import Image
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs

load_verbs()


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "corpus"
    root.mkdir()
    for i in range(3):
        Image.new("RGB", (40, 30), (i * 80, 0, 0)).save(root / f"{i}.png")
    (root / "empty.png").touch()
    lines = [
        {"file_name": name, "text": f"text of {name}"} for name in ("0.png", "empty.png", "2.png")
    ]
    (root / "metadata.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return root


def test_the_last_lines_say_how_many_broke_and_which(corpus):
    printed = call("features", corpus, "--image", "lite0", "--text", "minilm", code=3).splitlines()
    assert printed[-3].endswith("the file is empty (0 bytes)") and "empty.png" in printed[-3]
    assert printed[-2] == "lite0: 2 images ok, 1 broken"
    assert printed[-1] == "minilm: 3 texts ok"


def test_a_second_run_reads_the_cache_and_says_the_same(corpus, monkeypatch):
    first = call("features", corpus, "--json", code=3)

    def read(*_):
        raise AssertionError("a picture was read again")

    monkeypatch.setattr("deixis.features.backbones.efficientnet_lite.Lite0.read", read)
    assert call("features", corpus, "--json", code=3) == first
    assert json.loads(first)["images"] == 2


def test_a_sound_corpus_ends_with_0(corpus):
    (corpus / "metadata.jsonl").unlink()
    (corpus / "empty.png").unlink()
    assert call("features", corpus).splitlines()[-1] == "lite0: 3 images ok, 0 broken"
