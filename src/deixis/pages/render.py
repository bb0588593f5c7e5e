"""HTML pages from templates: one file each, nothing fetched from elsewhere."""

import base64
import io
from pathlib import Path
from typing import Any

from PIL import Image

from deixis import __version__
from deixis.extras import need
from deixis.files import write_atomic

need("jinja2", "report")

from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: E402

from deixis.pages.figures.chart import Chart  # noqa: E402

QUALITY = 85


def write_html(page: Path, template: str, **values: Any) -> None:
    """Render a template and write it, whole or not at all."""
    write_atomic(page, render(template, **values).encode())


def render(template: str, **values: Any) -> str:
    """A page as text; every value is escaped, and a value the template lacks is an error."""
    environment = Environment(
        loader=PackageLoader("deixis.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"jpeg": jpeg_uri, "svg": svg_uri}
    environment.globals["version"] = __version__
    return environment.get_template(f"{template}.html.j2").render(**values)


def jpeg_uri(picture: Image.Image) -> str:
    """A picture inside the page itself."""
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=QUALITY)
    return _uri("jpeg", content.getvalue())


def svg_uri(chart: Chart) -> str:
    """A chart inside the page itself."""
    return _uri("svg+xml", chart.content("svg"))


def _uri(kind: str, content: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
