"""The card of a packed run: what it is, what it saw, what it scores, what not to ask of it."""

from collections.abc import Mapping
from typing import Any

from deixis.methods.matcher import RunConfig
from deixis.recipes.table import COLUMNS

MADE = """# A model for photographs

Finds photographs by English words. It comes with deixis and is used where no other is named.

- **Method**: `{method}`, trained by recipe `{recipe}`, seed {seed}. Pictures are read by
  `{image}`, texts by `{text}`, both frozen; everything runs in ONNX Runtime.
- **Data**: Flickr8k, split `{train}` without its last {holdout} images, which chose the epoch.
- **Judged on** split `{test}`, none of which it was trained on: {images:,} photographs,
  {captions:,} captions, {protocol}, ties {tie_rule}, split {split_sha}.
- **Size**: {megabytes:.1f} MB: matrices in eight bits, and {texts:,} embedded training captions.
"""

READ = """
R@k is the share of queries, in percent, with a right answer among the first k. *As shipped*
counts the eight bits and the correction: a photograph loses {weight} of the mean of its {nearest}
best scores among the kept captions, so that one which resembles every caption does not come up
for every query (i→t is not corrected). Each is corrected on its own, when it is indexed; nothing
is learnt from the other photographs or from the queries.

## Limits

- It saw some 5,500 photographs, most of people, children, dogs and sport outdoors. Of anything
  else it knows what its frozen backbones know. It names nobody, reads no writing, and tells
  neither counts nor left from right.
- English only. It learnt from plain sentences: a short sentence works better than a keyword.
- It reads words, not traces: strokes on the canvas do not change its ranking.
- Its captions were written by people about people and carry their habits. Judge nobody by it.
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
    told = {
        **data,
        **judged,
        **vars(config),
        **kept,
        **counts,
        "method": config.method["name"],
    }
    lines = [f"\n| | {' | '.join(COLUMNS.values())} |", f"|---|{'---|' * len(COLUMNS)}"]
    for name, measures in rows.items():
        lines.append(f"| {name} | {' | '.join(f'{measures[key]:.1f}' for key in COLUMNS)} |")
    return MADE.format(**told) + "\n".join(lines) + "\n" + READ.format(**told)
