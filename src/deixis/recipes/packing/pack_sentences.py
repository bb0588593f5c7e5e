"""How well a packed run separates true sentences from contradicted ones, for its card."""

from deixis.evaluation.entailment.entailment_protocol import EntailmentResult, Interval
from deixis.evaluation.entailment.entailment_run import evaluate_entailment
from deixis.evaluation.entailment.judged_sentences import FILE
from deixis.files import write_atomic
from deixis.recipes.packing.pack_places import HEADING as NEXT
from deixis.runs.advance import Advance, silent
from deixis.runs.data_spec import DataSpec
from deixis.runs.find_corpus import find_corpus
from deixis.runs.run import Run

HEADING = "## Reading"
SAID = """
People wrote sentences about photographs of split `{test}`, some true and some contradicted by the
picture. Of {pairs:,} pairs about the same photograph ({images} of them), the true sentence scores
higher in {accuracy}, a caption higher than a contradicted sentence
in {captions}. Chance is 50 %.
"""


def pack_sentences(run: Run, data: DataSpec, advance: Advance = silent) -> EntailmentResult | None:
    """Judge a packed run by the sentences beside its corpus; nothing where there are none."""
    if not (find_corpus(data, advance).root / FILE).is_file():
        return None
    result = evaluate_entailment(run, data.test, data.corpus, advance=advance)
    before, pointing, after = run.path("card").read_text(encoding="utf-8").partition(NEXT)
    figures = {"accuracy": _said(result.accuracy), "captions": _said(result.captions)}
    section = SAID.format(**vars(result) | figures, test=data.test)
    kept = before.partition(HEADING)[0].rstrip()
    card = f"{kept}\n\n{HEADING}\n{section}" + (f"\n{pointing}{after}" if pointing else "")
    write_atomic(run.path("card"), card.encode())
    return result


def _said(interval: Interval) -> str:
    share, low, high = interval
    return f"{share:.1f} % ({low:.1f} … {high:.1f})"
