"""Pictures encoded for a library; a file that fails affects no other."""

from collections.abc import Sequence

import numpy as np

from deixis.errors import FeatureError, RunError
from deixis.features.store.image_files import PictureSource
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles, joined_files
from deixis.search.encoders.search_encoder import SearchEncoder

LONGEST = 500  # characters of a reason that are kept


def encode_files(encoder: SearchEncoder, files: Sequence[PictureSource]) -> EncodedFiles:
    """Encode files together; when that raises, one by one, so that each fails on its own."""
    try:
        return encoder.encode_image(files)
    except (RunError, FeatureError):  # the model cannot be used: that is no file's fault
        raise
    except Exception as error:  # decoders and networks raise nearly anything
        if len(files) == 1:
            nothing = np.zeros((0, 1, encoder.dim), dtype=np.float32)
            parts = EmbeddedParts(nothing, np.zeros((0, 1), dtype=bool))
            return EncodedFiles(parts, {0: reason_for(error)})
    return joined_files([encode_files(encoder, [file]) for file in files])


def reason_for(error: Exception) -> str:
    """What an error says, as text that can be stored and shown."""
    return storable(str(error) or type(error).__name__)


def storable(reason: str) -> str:
    """A reason without unpaired surrogates, not longer than a few lines."""
    return reason.encode(errors="backslashreplace").decode()[:LONGEST]
