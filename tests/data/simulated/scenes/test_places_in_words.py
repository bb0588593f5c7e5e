from deixis.data.read_corpus import read_corpus
from deixis.data.simulated.scenes import write_scenes
from deixis.data.simulated.scenes.claims import PLACES, Claim, Mention
from deixis.data.simulated.scenes.place_blind_reader import mentions_of, read_scenes
from deixis.data.simulated.scenes.places_in_words import narrations_with_places


def test_the_same_things_are_narrated_with_true_places_and_nothing_is_drawn(tmp_path):
    corpus = read_corpus(write_scenes(tmp_path / "scenes", images=24)).narrated()
    scenes = read_scenes(corpus.root)
    placed = 0
    for text, narration in enumerate(narrations_with_places(corpus)):
        assert mentions_of(narration.text) == mentions_of(corpus.texts[text])
        assert (narration.words, narration.strokes) == ((), ())
        scene = scenes[corpus.files[corpus.owners[text]]]
        for mention, phrase in zip(
            mentions_of(narration.text), narration.text.split(", and "), strict=True
        ):
            said = [place for place in PLACES if place in phrase]
            placed += len(said)
            for place in said:
                assert Claim((Mention(mention.noun, place=place),)).fits(scene)
    assert placed > 2 * len(corpus.texts)
