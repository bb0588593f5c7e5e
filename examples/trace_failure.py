"""How often a sprawling trace makes a trained run drop a described colour, on simulated scenes.

python examples/trace_failure.py RUN
"""

import sys
from pathlib import Path

from deixis.data.simulated.scenes.colour_decoys import colour_cases
from deixis.evaluation.probes.dropped_attribute import dropped_attribute
from deixis.runs.run import Run


def main(run: Path) -> str:
    """Measure a run on the test split it was judged on and say so in a sentence."""
    matcher, corpus = Run(run).matcher, Run(run).dataset().corpus
    assert matcher.vocabulary is not None
    found = dropped_attribute(matcher.model, colour_cases(corpus), matcher.vocabulary)
    return (
        f"{found.asked} narrations name a colour; {found.kept:.1f} % keep it, "
        f"{found.kept_sprawling:.1f} % under a sprawling trace of another thing: "
        f"{found.dropped:.1f} % of those kept are dropped"
    )


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
