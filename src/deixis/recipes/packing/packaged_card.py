"""The model card of a packed run: what it is, its data, its scores, its limits."""

from collections.abc import Mapping
from typing import Any

from deixis.recipes.results.printed_table import COLUMNS
from deixis.runs.run_config import RunConfig

MADE = """# A model for photographs

Finds photographs by English words. It comes with deixis and is used where no other is named.

- **Method**: `{method}`, trained by recipe `{recipe}`, seed {seed}. Pictures are read by
  `{image}`, texts by `{text}`, both frozen; everything runs in ONNX Runtime, in eight bits.
- **Data**: {photographs:,} photographs with their captions, split `{train}` of {corpora}; the last
  {holdout} of the first corpus chose the epoch instead.
- **Judged on** split `{test}` of the first corpus, none of which it was trained on: {images:,}
  photographs, {captions:,} captions, {protocol}, ties {tie_rule}, split {split_sha}.
- **Size**: {megabytes:.1f} MB: matrices in eight bits and {texts:,} embedded training captions; the
  backbones beside it take 33 MB more.
"""

UNREAD = "- It reads words, not traces: strokes on the canvas do not change its ranking."

READ = """
R@k is the share of queries, in percent, with a right answer among the first k. *As shipped*
counts the eight bits of model and backbones, and the correction: a photograph loses {weight} of
the mean of its {nearest} best scores among the kept captions, so that one which resembles every
caption does not come up for every query (i→t is not corrected). Each is corrected on its own,
when it is indexed; nothing is learnt from the other photographs or from the queries.

## Limits

- It saw {photographs:,} photographs, many of people, children, dogs and sport outdoors. Of
  anything else it knows what its frozen backbones know. It recognises no person, reads no writing,
  and its words know neither counts nor left from right.
- English only. It learnt from plain sentences: a short sentence works better than a keyword.
{pointing}
- Its captions were written by people about people and carry their habits. Do not use it to judge
  people.
- Research use only: see [LICENSE.md](LICENSE.md).
"""


def packed_card(
    config: RunConfig,
    data: Mapping[str, Any],
    judged: Mapping[str, Any],
    kept: Mapping[str, Any],
    rows: Mapping[str, Mapping[str, float]],
) -> str:
    """Markdown from the run's config, its data, the protocol, what was kept, and measures."""
    counts = {"images": judged["gallery"]["t2i"], "captions": judged["gallery"]["i2t"]}
    figures = {
        **data,
        **judged,
        **vars(config),
        **kept,
        **counts,
        "method": config.method["name"],
        "corpora": " and ".join(f"`{name}`" for name in (data["corpus"], *data.get("also", ()))),
        "pointing": UNREAD,
    }
    lines = [f"\n| | {' | '.join(COLUMNS.values())} |", f"|---|{'---|' * len(COLUMNS)}"]
    for name, measures in rows.items():
        lines.append(f"| {name} | {' | '.join(f'{measures[key]:.1f}' for key in COLUMNS)} |")
    return MADE.format(**figures) + "\n".join(lines) + "\n" + READ.format(**figures)
