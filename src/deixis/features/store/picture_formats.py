"""The picture formats that are read, by file name and by content."""

from functools import cache
from importlib.util import find_spec

# Pictures are known by their suffix; the type is what a server calls them.
PICTURE_TYPES: dict[str, str] = {
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".heic": "image/heic",
    ".heif": "image/heif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".webp": "image/webp",
}
# The decoders that are used, whatever a file's name is: some others start programs.
DECODERS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
HEIF_BRANDS = (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1")


@cache
def formats() -> tuple[str, ...]:
    """The decoders that are there: HEIC, which telephones make, needs the extra ``heic``.

    >>> "JPEG" in formats() and "EPS" not in formats()
    True
    """
    if find_spec("pillow_heif") is None:
        return DECODERS
    from pillow_heif import register_heif_opener  # an extra

    register_heif_opener()
    return (*DECODERS, "HEIF")


def lacks_decoder(start: bytes) -> str | None:
    """What to install for a file that begins so, when a package would help.

    >>> lacks_decoder(b"plain words!") is None
    True
    """
    if "HEIF" not in formats() and start[4:8] == b"ftyp" and start[8:12] in HEIF_BRANDS:
        return "a HEIC picture; to read it: pip install 'deixis[heic]'"
    return None
