"""Messages between the server and its decoders: two lengths, a table as JSON, bytes."""

import json
import struct
from collections.abc import Mapping
from typing import IO, Any

LENGTHS = struct.Struct("<II")


def write_message(stream: IO[bytes], table: Mapping[str, Any], content: bytes) -> None:
    """Send one message whole."""
    head = json.dumps(table).encode()
    stream.write(LENGTHS.pack(len(head), len(content)) + head)
    stream.write(content)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message; None when the other side has ended, in the middle of one or not."""
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    first, second = LENGTHS.unpack(lengths)
    head, content = stream.read(first), stream.read(second)
    if len(head) < first or len(content) < second:
        return None
    return json.loads(head), content
