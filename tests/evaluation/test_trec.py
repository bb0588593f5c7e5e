from dataclasses import replace

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, Rprec, Success

from deixis.errors import EvaluationError
from deixis.evaluation.judge import judge
from deixis.evaluation.measures import average_precision, hit_rate, r_precision
from deixis.evaluation.positive_ranks import places
from deixis.evaluation.qrels import Qrels
from deixis.evaluation.trec import write_qrels, write_run, write_trec
from made import made_dataset


@pytest.mark.parametrize("levels", [1, 4, 10_000])  # all tied, many ties, hardly any
def test_measures_equal_those_of_trec_tools_on_the_exported_files(tmp_path, levels):
    random = np.random.default_rng(0)
    scores = random.integers(0, levels, (12, 40)).astype(np.float64)
    qrels = Qrels.of_mask(random.random((12, 40)) < 0.1)
    names = [f"q{i}" for i in range(12)], [f"d{i}" for i in range(40)]
    write_run(tmp_path / "run", scores, qrels, names)
    write_qrels(tmp_path / "qrels", qrels, names)
    theirs = ir_measures.calc_aggregate(
        [Success @ 1, Success @ 5, Rprec, AP, RR],
        ir_measures.read_trec_qrels(str(tmp_path / "qrels")),
        ir_measures.read_trec_run(str(tmp_path / "run")),
    )
    placed = places(scores, qrels)
    assert hit_rate(placed.best, 1) / 100 == pytest.approx(theirs[Success @ 1], abs=1e-9)
    assert hit_rate(placed.best, 5) / 100 == pytest.approx(theirs[Success @ 5], abs=1e-9)
    assert r_precision(placed).mean() == pytest.approx(theirs[Rprec], abs=1e-9)
    assert average_precision(placed).mean() == pytest.approx(theirs[AP], abs=1e-9)
    assert (1 / placed.best).mean() == pytest.approx(theirs[RR], abs=1e-9)


def test_a_whole_split_is_exported_both_ways_with_names_that_others_can_read(tmp_path):
    corpus = made_dataset(images=6).corpus
    corpus = replace(corpus, files=tuple(f"my pictures/{file}" for file in corpus.files))
    scores = np.random.default_rng(0).normal(size=(6, 12))
    for path in write_trec(tmp_path / "trec", scores, corpus):
        assert path.exists()
    result = judge(scores, corpus).measures
    for way in ("i2t", "t2i"):
        theirs = ir_measures.calc_aggregate(
            [Success @ 1, Success @ 5],
            ir_measures.read_trec_qrels(str(tmp_path / f"trec/{way}.qrels")),
            ir_measures.read_trec_run(str(tmp_path / f"trec/{way}.run")),
        )
        assert result[f"{way}_hit@1"] == pytest.approx(100 * theirs[Success @ 1])
        assert result[f"{way}_hit@5"] == pytest.approx(100 * theirs[Success @ 5])


def test_a_run_is_cut_at_its_depth(tmp_path):
    qrels = Qrels.of_pairs(np.array([[0, 1]]))
    write_run(tmp_path / "run", np.array([[1.0, 3.0, 2.0]]), qrels, (["a"], ["x", "y", "z"]), 2)
    assert (tmp_path / "run").read_text() == "a Q0 y 1 2 deixis\na Q0 z 2 1 deixis\n"


def test_names_with_blanks_are_refused(tmp_path):
    with pytest.raises(EvaluationError, match="'a b'"):
        write_qrels(tmp_path / "qrels", Qrels.of_pairs(np.array([[0, 0]])), (["a b"], ["c"]))
