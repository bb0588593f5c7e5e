"""A listing of pictures cut into shards, the same way every time.

A shard ends where the hash of a name says so, not after a fixed count. A picture that is added or
removed therefore changes its own shard only, and everything else is found already done.
"""

import hashlib
import json
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

PER_SHARD = 2000  # pictures in a shard, on average
LONGEST = 4  # times as many are the most in one


@dataclass(frozen=True, slots=True, order=True)
class Picture:
    """A picture to embed: its name in the source, its size, and a tag of its content."""

    name: str
    size: int
    tag: str
    modified: float = field(default=0.0, compare=False)  # seconds since 1970


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """The pictures that one job embeds, with one model, and the metadata files beside them."""

    model: str
    pictures: tuple[Picture, ...]
    sidecars: tuple[Picture, ...] = ()
    places: str = ""  # the place head whose cells go with the vectors, if any

    @property
    def key(self) -> str:
        """A hash of all that decides what the job produces."""
        listed = [[one.name, one.size, one.tag] for one in (*self.pictures, *self.sidecars)]
        by = [self.model, self.places] if self.places else [self.model]
        return _hash(json.dumps([*by, listed]).encode())


def plan_shards(
    pictures: Iterable[Picture],
    model: str,
    per_shard: int = PER_SHARD,
    sidecars: Iterable[Picture] = (),
) -> list[ShardPlan]:
    """Cut a listing into shards of about ``per_shard`` pictures, whatever order it came in."""
    if per_shard < 1:
        raise ValueError(f"per_shard is {per_shard}; a shard holds at least one picture")
    beside: dict[str, list[Picture]] = {}
    for one in sorted(sidecars):
        beside.setdefault(_folder(one), []).append(one)
    plans = []
    for some in _cut(sorted(pictures), per_shard):
        folders = sorted({_folder(one) for one in some})
        found = tuple(one for folder in folders for one in beside.get(folder, ()))
        plans.append(ShardPlan(model, some, found))
    return plans


def _cut(pictures: list[Picture], per_shard: int) -> Iterator[tuple[Picture, ...]]:
    some: list[Picture] = []
    for picture in pictures:
        some.append(picture)
        if int(_hash(picture.name.encode(errors="surrogateescape")), 16) % per_shard == 0 or (
            len(some) >= LONGEST * per_shard
        ):
            yield tuple(some)
            some = []
    if some:
        yield tuple(some)


def _folder(picture: Picture) -> str:
    return posixpath.dirname(picture.name)


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
