"""A pretrained pair such as CLIP as a run folder, nothing trained."""

from pathlib import Path

from deixis.errors import FeatureError
from deixis.features.backbones.backbone import image_backbone, text_source
from deixis.methods.zero_shot import ZeroShot
from deixis.runs.matcher import Matcher
from deixis.runs.run_config import RunConfig
from deixis.types import Sizes


def adopt_pretrained(tower: str, folder: Path) -> Matcher:
    """Make a run folder of a pretrained pair, which then indexes and searches as any other."""
    images, texts = image_backbone(tower), text_source(tower).fit([])
    seen, read = images([]), texts([])
    if seen.pooled is None or read.pooled is None or read.values is None:
        raise FeatureError(f"{tower} gives no vectors for whole pictures and texts")
    sizes = Sizes(
        region=seen.values.shape[1],
        image=seen.pooled.shape[1],
        token=read.values.shape[1],
        text=read.pooled.shape[1],
        vocabulary=texts.size,
    )
    config = RunConfig({"name": ZeroShot.name}, sizes, tower, tower)
    matcher = Matcher(ZeroShot().model(sizes), config, None)
    matcher.save(folder)
    return matcher
