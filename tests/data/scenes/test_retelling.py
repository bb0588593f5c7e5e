from deixis.data.read import read_corpus
from deixis.data.scenes import write_scenes
from deixis.data.scenes.claims import PLACES, Claim, Mention
from deixis.data.scenes.oracle import mentions_of, read_scenes
from deixis.data.scenes.retelling import told_with_places


def test_the_same_things_are_told_with_true_places_and_nothing_is_drawn(tmp_path):
    corpus = read_corpus(write_scenes(tmp_path / "scenes", images=24)).narrated()
    scenes = read_scenes(corpus.root)
    placed = 0
    for text, told in enumerate(told_with_places(corpus)):
        assert mentions_of(told.text) == mentions_of(corpus.texts[text])
        assert (told.words, told.strokes) == ((), ())
        scene = scenes[corpus.files[corpus.owners[text]]]
        for mention, phrase in zip(mentions_of(told.text), told.text.split(", and "), strict=True):
            said = [place for place in PLACES if place in phrase]
            placed += len(said)
            for place in said:
                assert Claim((Mention(mention.noun, place=place),)).fits(scene)
    assert placed > 2 * len(corpus.texts)
