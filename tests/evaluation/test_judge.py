from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deixis.data.corpus import Corpus, split_sha
from deixis.errors import EvaluationError
from deixis.evaluation.chance import chance
from deixis.evaluation.judge import ensemble, judge, judge_folds
from deixis.evaluation.result import RunRanks
from deixis.evaluation.significance import compare, compare_seeds
from deixis.runs.run import Run

GOLDEN = np.load(Path(__file__).parents[1] / "golden/dive/ranks.npz")
EACH = ("hit@1", "hit@5", "hit@10", "medr", "meanr")
KEYS = tuple(f"{way}_{key}" for way in ("i2t", "t2i") for key in EACH)


def corpus_of(images: int, name: str = "made up") -> Corpus:
    texts = np.arange(5 * images)
    return Corpus(
        name=name,
        root=Path("."),
        files=tuple(f"{name}/{i}.jpg" for i in range(images)),
        texts=tuple(f"text {t}" for t in texts),
        owners=texts // 5,
        pairs=np.stack([texts // 5, texts], axis=1),
        splits=("test",) * images,
    )


def test_a_result_says_what_was_judged():
    result = judge(GOLDEN["sims"], corpus_of(50))
    assert result.measures["rsum"] == pytest.approx(319.2)
    assert result.queries == {"i2t": 50, "t2i": 250}
    assert result.gallery == {"i2t": 250, "t2i": 50}
    assert result.protocol == "whole split"
    assert result.tie_rule == "against the system"
    assert result.split_sha == split_sha(corpus_of(50)) != split_sha(corpus_of(50, "other"))
    assert "ranks" not in result.to_dict()
    assert result.to_dict()["queries"] == {"i2t": 50, "t2i": 250}


def test_folds_are_judged_alone_and_averaged():
    result = judge_folds(GOLDEN["sims"], corpus_of(50))
    np.testing.assert_allclose(
        [result.measures[key] for key in KEYS], GOLDEN["fold_mean"][:10], atol=1e-9
    )
    # the published summary puts another number here; the sum of the six means is meant
    six = sum(value for key, value in result.measures.items() if "hit@" in key)
    assert result.measures["rsum"] == pytest.approx(six) == pytest.approx(GOLDEN["fold_mean"][12])
    assert result.gallery == {"i2t": 50, "t2i": 10}
    with pytest.raises(EvaluationError, match="50 images do not make 7 equal folds"):
        judge_folds(GOLDEN["sims"], corpus_of(50), folds=7)


def test_an_ensemble_averages_scores():
    result = judge(ensemble([GOLDEN["sims"], GOLDEN["sims_b"]]), corpus_of(50))
    ours = [result.measures[key] for key in KEYS]
    np.testing.assert_allclose(ours[:5], GOLDEN["ensemble_i2t"], atol=1e-9)
    np.testing.assert_allclose(ours[5:], GOLDEN["ensemble_t2i"], atol=1e-9)
    with pytest.raises(EvaluationError, match="one shape"):
        ensemble([np.zeros((2, 2)), np.zeros((2, 3))])


def test_scores_of_another_split_are_refused():
    with pytest.raises(EvaluationError, match=r"\(50, 250\), the split is \(40, 200\)"):
        judge(GOLDEN["sims"], corpus_of(40))


def test_chance_of_a_split_has_every_measure_of_a_result():
    expected = chance(corpus_of(50))
    assert set(expected) == set(judge(GOLDEN["sims"], corpus_of(50)).measures)
    assert expected["t2i_hit@5"] == pytest.approx(10.0)
    random = np.random.default_rng(0)
    drawn = [judge(random.random((50, 250)), corpus_of(50)).measures["rsum"] for _ in range(60)]
    assert np.mean(drawn) == pytest.approx(expected["rsum"], abs=4 * np.std(drawn) / 60**0.5)


def saved(scores, corpus, folder) -> RunRanks:
    judge(scores, corpus).save_ranks(Run(folder))
    return RunRanks.load(Run(folder))


def test_ranks_come_back_as_they_were(tmp_path):
    run = saved(GOLDEN["sims"], corpus_of(50), tmp_path)
    np.testing.assert_array_equal(run.ranks["i2t"] - 1, GOLDEN["i2t_ranks"])
    np.testing.assert_array_equal(run.ranks["t2i"] - 1, GOLDEN["t2i_ranks"])
    assert run.split_sha == split_sha(corpus_of(50))
    with pytest.raises(EvaluationError, match="has no ranks.npz; train it"):
        RunRanks.load(Run(tmp_path / "nowhere"))


def test_a_run_does_not_differ_from_itself_and_a_better_one_does(tmp_path):
    corpus, random = corpus_of(100), np.random.default_rng(0)
    truth = np.zeros((100, 500))
    truth[corpus.pairs[:, 0], corpus.pairs[:, 1]] = 1.0
    noise = random.normal(size=(100, 500))
    good = saved(2.0 * truth + noise, corpus, tmp_path / "good")
    poor = saved(1.0 * truth + noise, corpus, tmp_path / "poor")
    for same in compare(good, good):
        assert same.low == same.high == same.difference == 0
        assert same.p == 1.0
    found = {d.measure: d for d in compare(good, poor)}
    rsum = found["rsum"]
    assert rsum.difference == pytest.approx(
        judge(2.0 * truth + noise, corpus).measures["rsum"]
        - judge(1.0 * truth + noise, corpus).measures["rsum"]
    )
    assert 0 < rsum.low < rsum.difference < rsum.high
    assert rsum.p < 0.001
    assert compare(good, poor) == compare(good, poor)


def test_the_interval_is_that_of_drawing_images_with_their_texts(tmp_path):
    corpus = corpus_of(50)
    one = saved(GOLDEN["sims"], corpus, tmp_path / "one")
    other = saved(GOLDEN["sims_b"], corpus, tmp_path / "other")
    found = {d.measure: d for d in compare(one, other)}
    drawn = np.random.default_rng(1).integers(0, 50, (20_000, 50))
    each = {}
    for way in ("i2t", "t2i"):
        for k in (1, 5, 10):
            gap = 100.0 * ((one.ranks[way] <= k).astype(float) - (other.ranks[way] <= k))
            each[f"{way}_hit@{k}"] = gap.reshape(50, -1).mean(axis=1)[drawn].mean(axis=1)
    each["rsum"] = sum(each.values())
    for measure, draws in each.items():
        interval = [found[measure].low, found[measure].high]
        wide = 0.03 * np.ptp(draws)
        assert interval == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=wide)


def test_texts_that_fail_together_widen_the_interval(tmp_path):
    corpus, random = corpus_of(80), np.random.default_rng(0)
    won = np.repeat(random.random(80) < 0.5, 5)  # all five texts of an image, or none
    scattered = random.permutation(won)
    widths = []
    for name, found in (("together", won), ("scattered", scattered)):
        scores = np.zeros((80, 400))
        scores[corpus.owners[found], np.flatnonzero(found)] = 1.0
        run = saved(scores, corpus, tmp_path / name)
        nothing = saved(np.zeros((80, 400)), corpus, tmp_path / f"{name}, nothing found")
        gap = next(d for d in compare(run, nothing) if d.measure == "t2i_hit@1")
        widths.append(gap.high - gap.low)
    assert widths[0] > 1.7 * widths[1]


def test_ranks_that_do_not_say_whose_their_texts_are_cannot_be_drawn(tmp_path):
    result = judge(GOLDEN["sims"], corpus_of(50))
    replace(result, owners=None).save_ranks(Run(tmp_path))
    run = RunRanks.load(Run(tmp_path))
    with pytest.raises(EvaluationError, match="which image each text belongs to"):
        compare(run, run)


def test_seeds_are_averaged_query_by_query_before_queries_are_drawn(tmp_path):
    corpus, random = corpus_of(60), np.random.default_rng(0)
    runs = [
        saved(random.normal(size=(60, 300)), corpus, tmp_path / f"run-{seed}") for seed in range(3)
    ]
    other = saved(random.normal(size=(60, 300)), corpus, tmp_path / "other")
    found = {d.measure: d for d in compare_seeds(runs, [other])}
    each = [{d.measure: d for d in compare(run, other)} for run in runs]
    for measure, difference in found.items():
        alone = [one[measure] for one in each]
        assert difference.first == pytest.approx(np.mean([one.first for one in alone]))
        assert difference.high - difference.low < max(one.high - one.low for one in alone)
    with pytest.raises(EvaluationError, match="differ in split_sha"):
        compare_seeds([runs[0], saved(GOLDEN["sims"], corpus_of(50), tmp_path / "small")], [other])


def test_runs_on_different_splits_are_not_compared(tmp_path):
    one = saved(GOLDEN["sims"], corpus_of(50), tmp_path / "one")
    other = saved(GOLDEN["sims"], corpus_of(50, "other"), tmp_path / "other")
    with pytest.raises(EvaluationError, match="differ in split_sha"):
        compare(one, other)
