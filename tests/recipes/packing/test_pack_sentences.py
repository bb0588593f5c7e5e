"""A packed run's card says how well it tells true sentences from contradicted ones."""

from types import SimpleNamespace

import numpy as np
import pytest

from deixis.evaluation.entailment.entailment_protocol import EntailmentResult
from deixis.evaluation.entailment.judged_sentences import FILE
from deixis.recipes.packing import pack_sentences as module
from deixis.recipes.packing.pack_sentences import pack_sentences
from deixis.runs.data_spec import DataSpec
from deixis.runs.run import Run

DATA = DataSpec("somewhere")


@pytest.fixture
def run(tmp_path, monkeypatch):
    judged = EntailmentResult(
        (75.9, 71.8, 79.9), (90.5, 88.2, 92.5), 212, 1878, "a", np.ones(1), np.zeros(1, int)
    )
    monkeypatch.setattr(module, "find_corpus", lambda *_: SimpleNamespace(root=tmp_path))
    monkeypatch.setattr(module, "evaluate_entailment", lambda *_, **__: judged)
    run = Run(tmp_path)
    run.path("card").write_text("# A model\n\n## Pointing\n\nwhere\n", encoding="utf-8")
    return run


def test_the_section_stands_before_pointing_once(run, tmp_path):
    (tmp_path / FILE).write_text("", encoding="utf-8")
    pack_sentences(run, DATA)
    pack_sentences(run, DATA)
    card = run.path("card").read_text(encoding="utf-8")
    assert card.startswith("# A model\n\n## Reading\n\nPeople wrote")
    assert "75.9 % (71.8 … 79.9)" in card
    assert card.endswith("Chance is 50 %.\n\n## Pointing\n\nwhere\n")
    assert card.count("## Reading") == 1


def test_a_corpus_without_sentences_says_nothing(run):
    before = run.path("card").read_text(encoding="utf-8")
    assert pack_sentences(run, DATA) is None
    assert run.path("card").read_text(encoding="utf-8") == before
