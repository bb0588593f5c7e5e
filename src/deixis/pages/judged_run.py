"""A run judged under any protocol the command knows, ready to be printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from deixis.evaluation.entailment.entailment_run import evaluate_entailment
from deixis.evaluation.evaluate_run import evaluate
from deixis.files import write_atomic
from deixis.recipes.pointing.judge_pointing import has_place_head, judge_own_maps, judge_pointing
from deixis.recipes.pointing.places_table import places_terminal
from deixis.recipes.results.printed_table import Report
from deixis.runs.advance import Advance, silent
from deixis.runs.places.take_place_head import take_place_head
from deixis.runs.run import Run

PLACES, ENTAILMENT = "places", "entailment"


@dataclass(frozen=True)
class JudgeOptions:
    """What a run is judged on and by; what is left out is the run's own, or is not needed."""

    protocol: str = "whole"
    split: str = ""
    corpus: str = ""
    trec: Path | None = None  # a folder for TREC files
    places: Path | None = None  # the run that has the place head
    drawing: Path | None = None  # a file for phrases, boxes and maps
    sentences: str = ""  # judged sentences
    against: Path | None = None  # a run to subtract


@dataclass(frozen=True)
class JudgedRun:
    """What came out, for machines and for people."""

    record: dict[str, Any]
    lines: Sequence[str] = ()
    table: RenderableType | None = None


def judge_run(run: Path, asked: JudgeOptions, advance: Advance = silent) -> JudgedRun:
    """Evaluate a run by the given protocol."""
    if asked.protocol == ENTAILMENT:
        return _by_sentences(run, asked, advance)
    if asked.protocol == PLACES:
        head = Run(asked.places or run)
        return (_by_places if has_place_head(head) else _by_own_maps)(run, asked, advance)
    found = evaluate(
        run,
        asked.split,
        corpus=asked.corpus,
        protocol=asked.protocol,
        trec=asked.trec,
        advance=advance,
    )
    table = Report.of_results(str(run), found.results).terminal()
    return JudgedRun(found.to_dict(), [f"wrote {file}" for file in found.written], table)


def _by_places(run: Path, asked: JudgeOptions, advance: Advance) -> JudgedRun:
    head = take_place_head(Run(asked.places or run), advance)
    result = judge_pointing(Run(run), head, asked.split, asked.corpus, advance)
    return JudgedRun(result.to_dict(), table=places_terminal(str(run), [result]))


def _by_own_maps(run: Path, asked: JudgeOptions, advance: Advance) -> JudgedRun:
    """The pointing game by the maps of a run without a place head."""
    maps, pictures = judge_own_maps(Run(run), asked.split, asked.corpus, advance)
    games = [
        f"pointing game by {kind}: {share:.1f} % ({low:.1f} … {high:.1f})"
        for kind, (share, low, high) in maps.games.items()
    ]
    lines = [
        *games,
        f"centre {maps.centre:.1f}, random {maps.random:.1f}, best region {maps.best:.1f} %",
        f"{maps.phrases} phrases on {maps.images} images; this run has no place head",
    ]
    if asked.drawing is not None:
        from deixis.pages.phrase_maps import phrase_maps_sheet  # brings matplotlib

        sheet = phrase_maps_sheet(maps, pictures, f"{run.name}: boxes of people, maps of the model")
        write_atomic(asked.drawing, sheet.content("png"))
        lines.append(f"wrote {asked.drawing}")
    return JudgedRun(maps.to_dict(), lines)


def _by_sentences(run: Path, asked: JudgeOptions, advance: Advance) -> JudgedRun:
    where = (asked.split, asked.corpus, asked.sentences)
    found = evaluate_entailment(Run(run), *where, advance)
    record = found.to_dict()
    shares = {
        "a true sentence above a contradicted one": found.accuracy,
        "a caption above a contradicted one": found.captions,
    }
    if asked.against is not None:
        difference = found.above(evaluate_entailment(Run(asked.against), *where, advance))
        record["difference"] = difference
        shares[f"true above contradicted, minus {asked.against}"] = difference
    lines = [
        f"{name}: {share:.1f} % ({low:.1f} … {high:.1f})"
        for name, (share, low, high) in shares.items()
    ]
    about = f"{found.pairs} pairs of sentences on {found.images} images; chance is 50 %"
    return JudgedRun(record, [*lines, about])
