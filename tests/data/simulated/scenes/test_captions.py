import re

import numpy as np

from deixis.data.simulated.scenes.captions import caption_scene
from deixis.data.simulated.scenes.objects import COLOURS, NOUNS
from deixis.data.simulated.scenes.scene import make_scenes


def test_five_captions_that_differ_and_never_name_all_things() -> None:
    rng = np.random.default_rng(1)
    for scene in make_scenes(50, 0, rng, first_group=0):
        captions = caption_scene(scene, rng)
        assert len(captions) == 5
        for text, claim in captions:
            named = {word for word in re.findall(r"[a-z]+", text.lower()) if word in NOUNS}
            assert named == {mention.noun for mention in claim.mentions} - {None}
            assert named < {thing.noun for thing in scene.things}


def test_a_caption_says_what_its_claim_holds_and_no_more() -> None:
    rng = np.random.default_rng(2)
    for scene in make_scenes(50, 0, rng, first_group=0):
        for text, claim in caption_scene(scene, rng):
            words = re.findall(r"[a-z]+", text.lower())
            coloured = [mention.colour for mention in claim.mentions if mention.colour]
            assert sorted(word for word in words if word in COLOURS) == sorted(coloured)
            for said in (claim.relation, *(mention.place for mention in claim.mentions)):
                assert said is None or said in text
