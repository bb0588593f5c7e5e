"""COCO's test split under its three judgements: original captions, CxC and ECCV Caption."""

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.measures import both_ways, precision_measures, rank_measures
from deixis.evaluation.positive_ranks import Ties, places, ranks
from deixis.evaluation.protocols.five_folds import mean_of_folds, ranks_in_folds
from deixis.evaluation.qrels import Qrels
from deixis.evaluation.result import Result

NAMES = ("original", "cxc", "eccv")
FOLD = 1000  # images of a fold of the "1K" numbers


@dataclass(frozen=True)
class CocoTest:
    """The 5,000 images and 25,000 texts of COCO's test split, by their published ids and order.

    ``truth`` holds the judgements by name ("original", "cxc", "eccv") and direction. ECCV Caption
    asks 1,261 images and 1,332 texts; two of its positives are texts no gallery has.
    *Papers*: Karpathy and Fei-Fei 2015; CxC, Parekh et al. 2021; ECCV Caption, Chun et al. 2022.
    """

    image_ids: Int[ndarray, " image"]
    text_ids: Int[ndarray, " text"]
    truth: dict[str, dict[str, Qrels]]
    sha: str

    @classmethod
    def load(cls) -> "CocoTest":
        """Read the judgements from the installed package ``eccv_caption``."""
        folder = _data_folder()
        text_ids = np.load(folder / "coco_test_ids.npy", allow_pickle=False).astype(np.int64)
        owners = _read(folder / "original_caption_to_image.json")
        image_ids = np.array(list(dict.fromkeys(owners[t][0] for t in text_ids.tolist())))
        truth = {name: _truth(folder, name, image_ids, text_ids) for name in NAMES}
        sha = sha256(image_ids.astype("<i8").tobytes() + text_ids.astype("<i8").tobytes())
        return cls(image_ids, text_ids, truth, sha.hexdigest()[:16])

    def judge(
        self, scores: Float[ndarray, "image text"], ties: Ties = "against the system"
    ) -> dict[str, Result]:
        """Measure scores in the order of the ids: COCO 1K, COCO 5K, CxC and ECCV Caption."""
        expected = (len(self.image_ids), len(self.text_ids))
        if scores.shape != expected:
            raise EvaluationError(f"scores are {scores.shape}, the split is {expected}")
        return {
            "COCO 1K": self._one_thousand(scores, ties),
            "COCO 5K": self._whole(scores, "original", ties),
            "CxC": self._whole(scores, "cxc", ties),
            "ECCV Caption": self._eccv(scores, ties),
        }

    def judge_corpus(
        self, scores: Float[ndarray, "image text"], corpus: Corpus
    ) -> dict[str, Result]:
        """Measure scores in the order of a corpus that knows COCO's ids."""
        if corpus.image_ids is None or corpus.text_ids is None:
            raise EvaluationError(
                f"corpus '{corpus.name}' has no image and text ids; COCO's JSON or Karpathy's do"
            )
        images = _places(self.image_ids, corpus.image_ids, "image")
        texts = _places(self.text_ids, corpus.text_ids, "text")
        return self.judge(scores[np.ix_(images, texts)])

    def judge_jointly(self, scores: Float[ndarray, "image text"], corpus: Corpus) -> Result:
        """All judgements as one result: COCO 5K's own, CxC's and ECCV's measures beside them."""
        results = self.judge_corpus(scores, corpus)
        whole = results["COCO 5K"]
        beside = {"cxc": results["CxC"], "eccv": results["ECCV Caption"]}
        named = {f"{n}_{key}": v for n, r in beside.items() for key, v in r.measures.items()}
        return replace(
            whole,
            measures=whole.measures | named,
            protocol="COCO 5K, CxC, ECCV",
            owners=self.truth["original"]["t2i"].items,
        )

    def _one_thousand(self, scores: Float[ndarray, "image text"], ties: Ties) -> Result:
        texts = self.truth["original"]["t2i"]
        pairs = np.stack([texts.items, texts.queries[texts.owners]], axis=1)
        of_image = np.arange(len(self.image_ids)) // FOLD
        ranked = ranks_in_folds(scores, pairs, of_image, of_image[texts.items], ties)
        measures, joined = mean_of_folds(ranked)
        gallery = {"i2t": FOLD * len(self.text_ids) // len(self.image_ids), "t2i": FOLD}
        return Result(measures, "COCO 1K, mean of 5 folds", gallery, self.sha, joined, ties)

    def _whole(self, scores: Float[ndarray, "image text"], name: str, ties: Ties) -> Result:
        truth = self.truth[name]
        i2t, t2i = ranks(scores, truth["i2t"], ties), ranks(scores.T, truth["t2i"], ties)
        measures = both_ways(rank_measures(i2t), rank_measures(t2i))
        protocol = {"original": "COCO 5K", "cxc": "CxC"}[name]
        return Result(measures, protocol, self._gallery(), self.sha, {"i2t": i2t, "t2i": t2i}, ties)

    def _eccv(self, scores: Float[ndarray, "image text"], ties: Ties) -> Result:
        truth = self.truth["eccv"]
        i2t, t2i = places(scores, truth["i2t"], ties), places(scores.T, truth["t2i"], ties)
        measured = (rank_measures(p.best) | precision_measures(p) for p in (i2t, t2i))
        ranked = {"i2t": i2t.best, "t2i": t2i.best}
        return Result(both_ways(*measured), "ECCV Caption", self._gallery(), self.sha, ranked, ties)

    def _gallery(self) -> dict[str, int]:
        return {"i2t": len(self.text_ids), "t2i": len(self.image_ids)}


def _places(
    wanted: Int[ndarray, " wanted"], found: Int[ndarray, " found"], what: str
) -> Int[ndarray, " wanted"]:
    """Where each wanted id stands among those found."""
    order = np.argsort(found)
    place = np.searchsorted(found, wanted, sorter=order).clip(max=len(found) - 1)
    missing = wanted[found[order[place]] != wanted]
    if len(missing):
        raise EvaluationError(
            f"{len(missing)} {what} ids of COCO's test split are not in the corpus, as "
            f'{missing[0]}; judge = "whole" takes any corpus'
        )
    return order[place]


def _data_folder() -> Path:
    """The package's files are read in place; its code is not run."""
    found = find_spec("eccv_caption")
    if found is None or not found.submodule_search_locations:
        raise EvaluationError("CxC and ECCV Caption need: pip install 'deixis[eccv]'")
    return Path(found.submodule_search_locations[0]) / "data"


def _truth(folder: Path, name: str, images: ndarray, texts: ndarray) -> dict[str, Qrels]:
    answers = _read(folder / f"{name}_image_to_caption.json")
    described = _read(folder / f"{name}_caption_to_image.json")
    return {
        "i2t": Qrels.of_ids(answers, images, texts),
        "t2i": Qrels.of_ids(described, texts, images),
    }


def _read(path: Path) -> dict[int, list[int]]:
    content = json.loads(path.read_text(encoding="utf-8"))
    return {int(key): items for key, items in content.items()}
