"""One pass that brings a generation in line with the disk."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.errors import SearchError
from deixis.search.encoder import Encoder
from deixis.search.generation import Generation
from deixis.search.look import look_at
from deixis.search.manifest import Entry
from deixis.search.notes import update_notes
from deixis.search.scan import Found, Scan, content_hash, reason_of, scan

Kind = Literal["added", "updated", "renamed", "removed", "unchanged", "broken"]
Vectors = Float32[ndarray, "_ dim"]

ENCODE = 32  # pictures encoded together, and at most lost to a kill
COMMIT = 512  # files written together when nothing is to be encoded


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file."""

    path: str
    kind: Kind
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a pass did: how many files of each outcome, pictures encoded, and what is broken."""

    counts: Mapping[Kind, int]
    encoded: int
    broken: tuple[Outcome, ...]

    @property
    def failed(self) -> bool:
        """Whether there were files and not one of them is usable."""
        usable = sum(self.counts.get(kind, 0) for kind in ("added", "updated", "renamed"))
        return bool(self.broken) and usable + self.counts.get("unchanged", 0) == 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        broken = [asdict(outcome) for outcome in self.broken]
        return {"counts": dict(self.counts), "encoded": self.encoded, "broken": broken}


@dataclass(frozen=True, slots=True)
class _Work:
    entry: Entry
    kind: Kind
    old: str | None = None  # the path it was renamed from


class Indexing:
    """Adds, updates, renames and removes by content hash; a file is reported once it is safe."""

    def __init__(
        self, generation: Generation, encoder: Encoder, on_file: Callable[[Outcome, int, int], None]
    ) -> None:
        self._generation, self._encoder, self._on_file = generation, encoder, on_file
        self._counts: Counter[Kind] = Counter()
        self._broken: list[Outcome] = []
        self._waiting: list[_Work] = []
        self._fresh: dict[str, Entry] = {}  # of those that wait, one file a content to encode
        self._encoded, self._total = 0, 0

    def run(self, paths: Iterable[Path]) -> Report:
        """Look at every picture below the paths once."""
        self._generation.repair()
        seen = scan(paths)
        self._prepare(seen)
        for path, reason in seen.unreadable.items():
            self._report(Outcome(path, "broken", reason))
        for path in sorted(seen.files):
            self._look(seen.files[path])
            if len(self._fresh) >= ENCODE or len(self._waiting) >= COMMIT:
                self._flush()
        self._flush()
        self._generation.write({}, [], list(self._gone))
        self._take_notes({os.path.dirname(path) for path in seen.files})
        for path in self._gone:
            self._report(Outcome(path, "removed"))
        return Report(dict(self._counts), self._encoded, tuple(self._broken))

    def _prepare(self, seen: Scan) -> None:
        manifest = self._generation.manifest
        files = manifest.files()
        unknown = [path for path in seen.missing if path not in files]
        if unknown:
            raise SearchError(f"'{unknown[0]}' does not exist; give folders or picture files")
        manifest.add_roots(path for path in seen.paths if os.path.isdir(path))
        self._known = {path: entry for path, entry in files.items() if seen.covers(path)}
        self._stored = set(manifest.contents())
        self._gone = {path: entry for path, entry in self._known.items() if seen.vanished(path)}
        self._moved = {entry.hash: path for path, entry in self._gone.items() if entry.hash}
        self._total = len(seen.files) + len(seen.unreadable) + len(self._gone)

    def _take_notes(self, folders: set[str]) -> None:
        with self._generation.manifest.writing():
            unusable = update_notes(self._generation.manifest.facts, folders)
        self._total += len(unusable)
        for path, reason in unusable.items():
            self._report(Outcome(path, "broken", f"no labels or words read from it:{reason}"))

    def _look(self, found: Found) -> None:
        """Decide from size, time and content what a file needs."""
        entry = Entry(found.path, found.size, found.mtime_ns, None)
        known = self._known.get(found.path)
        sound = known is not None and known.reason is None and known.hash in self._stored
        if known is not None and sound and replace(known, hash=None) == entry:
            self._report(Outcome(found.path, "unchanged"))
            return
        try:
            name = content_hash(found.path)
        except OSError as error:
            self._waiting.append(_Work(replace(entry, reason=reason_of(error)), "broken"))
            return
        entry = replace(entry, hash=name)
        if name not in self._stored:
            self._fresh[name] = entry
        if known is not None:
            same = sound and known.hash == name
            self._waiting.append(_Work(entry, "unchanged" if same else "updated"))
        elif old := self._moved.pop(name, None):
            del self._gone[old]
            self._waiting.append(_Work(entry, "renamed", old))
        else:
            self._waiting.append(_Work(entry, "added"))

    def _flush(self) -> None:
        """Encode what is new, make everything that waits durable, then report it."""
        vectors, reasons = self._encode(self._fresh)
        done = []
        for work in self._waiting:
            reason = reasons.get(work.entry.hash or "", work.entry.reason)
            kind: Kind = work.kind if reason is None else "broken"
            done.append(_Work(replace(work.entry, reason=reason), kind, work.old))
        old = [work.old for work in done if work.old is not None]
        looks = {name: look_at(Path(self._fresh[name].path)) for name in vectors}
        known = {name: look for name, look in looks.items() if look is not None}
        self._generation.write(vectors, [work.entry for work in done], old, known)
        self._stored.update(vectors)
        self._encoded += len(vectors)
        self._waiting, self._fresh = [], {}
        for work in done:
            note = work.entry.reason or (f"was {work.old}" if work.old else "")
            self._report(Outcome(work.entry.path, work.kind, note))

    def _encode(self, fresh: Mapping[str, Entry]) -> tuple[dict[str, Vectors], dict[str, str]]:
        """Vectors by content hash, and for the rest why there are none."""
        if not fresh:
            return {}, {}
        encoded = self._encoder.encode_image([Path(entry.path) for entry in fresh.values()])
        if len(encoded.parts) + len(encoded.broken) != len(fresh):
            raise SearchError(f"the model answered for {len(encoded.parts)} of {len(fresh)} files")
        vectors: dict[str, Vectors] = {}
        reasons: dict[str, str] = {}
        for place, (name, entry) in enumerate(fresh.items()):
            if place in encoded.broken:
                reasons[name] = encoded.broken[place]
                continue
            item = encoded.parts.of(place - sum(broken < place for broken in encoded.broken))
            if len(item) == 0 or not np.isfinite(item).all():
                reasons[name] = "the model gave no finite vector for it"
            elif _changed(entry):
                reasons[name] = "it changed while it was read; index again"
            else:
                vectors[name] = item
        return vectors, reasons

    def _report(self, outcome: Outcome) -> None:
        self._counts[outcome.kind] += 1
        if outcome.kind == "broken":
            self._broken.append(outcome)
        self._on_file(outcome, self._counts.total(), self._total)


def _changed(entry: Entry) -> bool:
    try:
        now = os.stat(entry.path)
    except OSError:
        return True
    return (now.st_size, now.st_mtime_ns) != (entry.size, entry.mtime_ns)
