"""The built-in corpus: simulated narrated scenes, drawn as real picture files."""

from deixis.data.simulated.scenes.write_scenes import write_scenes

__all__ = ["write_scenes"]
