"""How often a sprawling trace makes a trained run drop a described colour, on simulated scenes.

python examples/trace_failure.py RUN
"""

import sys
from pathlib import Path

from deixis.data.scenes.decoys import colour_cases
from deixis.evaluation.dropped_attribute import dropped_attribute
from deixis.methods.matcher import load
from deixis.recipes.prepare import prepare_for


def main(run: Path) -> str:
    """Measure a run on the test split it was judged on and say so in a sentence."""
    matcher = load(run)
    corpus = prepare_for(run, matcher, "", "", lambda *_: None).corpus
    assert matcher.vocabulary is not None
    found = dropped_attribute(matcher.model, colour_cases(corpus), matcher.vocabulary)
    return (
        f"{found.asked} narrations tell a colour; {found.kept:.1f} % keep it, "
        f"{found.kept_sprawling:.1f} % under a sprawling trace of another thing: "
        f"{found.dropped:.1f} % of those kept are dropped"
    )


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
