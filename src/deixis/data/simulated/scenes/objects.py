"""What scenes are made of: twenty-four nouns as drawings in a unit square, and the colours."""

from dataclasses import dataclass
from typing import Literal

Form = Literal["ellipse", "polygon", "line", "dome", "bowl"]

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (214, 40, 40),
    "orange": (243, 134, 24),
    "yellow": (248, 214, 45),
    "green": (52, 158, 70),
    "blue": (38, 98, 212),
    "purple": (134, 58, 176),
    "white": (246, 246, 246),
    "black": (42, 42, 46),
}


@dataclass(frozen=True, slots=True)
class DrawnPart:
    """One filled or stroked form of a drawing, in coordinates of the unit square.

    A dome is the upper half of the ellipse in its box, a bowl the lower half. The tone ``main``
    is the object's colour, ``dark`` and ``light`` are made from it, the others are fixed.
    """

    form: Form
    points: tuple[float, ...]
    tone: str = "main"
    width: float = 0.0


def _ellipse(*box: float, tone: str = "main") -> DrawnPart:
    return DrawnPart("ellipse", box, tone)


def _polygon(*points: float, tone: str = "main") -> DrawnPart:
    return DrawnPart("polygon", points, tone)


def _rectangle(x0: float, y0: float, x1: float, y1: float, tone: str = "main") -> DrawnPart:
    return DrawnPart("polygon", (x0, y0, x1, y0, x1, y1, x0, y1), tone)


def _line(*points: float, tone: str = "ink", width: float = 0.05) -> DrawnPart:
    return DrawnPart("line", points, tone, width)


def _dome(*box: float, tone: str = "main") -> DrawnPart:
    return DrawnPart("dome", box, tone)


def _bowl(*box: float, tone: str = "main") -> DrawnPart:
    return DrawnPart("bowl", box, tone)


DRAWINGS: dict[str, tuple[DrawnPart, ...]] = {
    "apple": (
        _ellipse(0.06, 0.24, 0.62, 0.97),
        _ellipse(0.38, 0.24, 0.94, 0.97),
        _ellipse(0.20, 0.30, 0.80, 0.95, tone="main_bare"),
        _line(0.50, 0.32, 0.54, 0.04, tone="wood", width=0.06),
        _polygon(0.54, 0.18, 0.70, 0.04, 0.90, 0.08, 0.74, 0.22, tone="leaf"),
    ),
    "ball": (
        _ellipse(0.03, 0.03, 0.97, 0.97),
        _line(0.06, 0.40, 0.30, 0.53, 0.70, 0.53, 0.94, 0.40, tone="dark", width=0.08),
        _line(0.10, 0.68, 0.32, 0.78, 0.68, 0.78, 0.90, 0.68, tone="dark", width=0.05),
        _ellipse(0.24, 0.12, 0.44, 0.28, tone="light"),
    ),
    "bird": (
        _polygon(0.30, 0.52, 0.02, 0.42, 0.06, 0.66),
        _ellipse(0.16, 0.36, 0.78, 0.84),
        _ellipse(0.58, 0.14, 0.90, 0.46),
        _polygon(0.88, 0.26, 1.00, 0.33, 0.88, 0.38, tone="beak"),
        _polygon(0.30, 0.50, 0.62, 0.50, 0.36, 0.78, tone="dark"),
        _ellipse(0.72, 0.22, 0.80, 0.30, tone="ink"),
        _line(0.42, 0.83, 0.42, 0.98, tone="beak"),
        _line(0.54, 0.83, 0.54, 0.98, tone="beak"),
    ),
    "boat": (
        _line(0.48, 0.04, 0.48, 0.70, tone="wood", width=0.06),
        _polygon(0.52, 0.05, 0.92, 0.60, 0.52, 0.60, tone="paper"),
        _polygon(0.44, 0.14, 0.44, 0.60, 0.14, 0.60, tone="light"),
        _polygon(0.02, 0.66, 0.98, 0.66, 0.80, 0.96, 0.20, 0.96),
    ),
    "book": (
        _polygon(0.02, 0.20, 0.50, 0.30, 0.98, 0.20, 0.98, 0.88, 0.50, 0.98, 0.02, 0.88),
        _polygon(0.09, 0.12, 0.50, 0.24, 0.50, 0.88, 0.09, 0.78, tone="paper"),
        _polygon(0.91, 0.12, 0.50, 0.24, 0.50, 0.88, 0.91, 0.78, tone="paper"),
        _line(0.17, 0.32, 0.42, 0.39, width=0.03),
        _line(0.17, 0.46, 0.42, 0.53, width=0.03),
        _line(0.17, 0.60, 0.42, 0.67, width=0.03),
        _polygon(0.60, 0.33, 0.84, 0.26, 0.84, 0.58, 0.60, 0.66),
    ),
    "bottle": (
        _rectangle(0.40, 0.10, 0.60, 0.34),
        _rectangle(0.37, 0.02, 0.63, 0.12, tone="wood"),
        _polygon(0.40, 0.26, 0.60, 0.26, 0.76, 0.46, 0.76, 0.98, 0.24, 0.98, 0.24, 0.46),
        _rectangle(0.24, 0.58, 0.76, 0.82, tone="paper"),
        _line(0.33, 0.70, 0.67, 0.70, width=0.05),
    ),
    "cactus": (
        _line(0.20, 0.38, 0.20, 0.60, 0.50, 0.60, tone="main", width=0.14),
        _line(0.80, 0.26, 0.80, 0.50, 0.50, 0.50, tone="main", width=0.14),
        _ellipse(0.36, 0.02, 0.64, 0.30),
        _rectangle(0.36, 0.16, 0.64, 0.78, tone="main_bare"),
        _line(0.45, 0.14, 0.45, 0.72, tone="dark", width=0.03),
        _line(0.55, 0.14, 0.55, 0.72, tone="dark", width=0.03),
        _polygon(0.24, 0.76, 0.76, 0.76, 0.68, 0.99, 0.32, 0.99, tone="wood"),
    ),
    "car": (
        _polygon(0.20, 0.50, 0.34, 0.24, 0.70, 0.24, 0.84, 0.50),
        _polygon(0.30, 0.48, 0.39, 0.31, 0.50, 0.31, 0.50, 0.48, tone="glass"),
        _polygon(0.55, 0.48, 0.55, 0.31, 0.66, 0.31, 0.74, 0.48, tone="glass"),
        _rectangle(0.02, 0.48, 0.98, 0.74),
        _ellipse(0.12, 0.60, 0.40, 0.88, tone="ink"),
        _ellipse(0.60, 0.60, 0.88, 0.88, tone="ink"),
        _ellipse(0.20, 0.68, 0.32, 0.80, tone="paper"),
        _ellipse(0.68, 0.68, 0.80, 0.80, tone="paper"),
    ),
    "chair": (
        _rectangle(0.18, 0.02, 0.32, 0.98),
        _rectangle(0.68, 0.56, 0.80, 0.98),
        _rectangle(0.18, 0.06, 0.40, 0.50, tone="light"),
        _rectangle(0.14, 0.50, 0.86, 0.64),
    ),
    "clock": (
        _ellipse(0.02, 0.02, 0.98, 0.98),
        _ellipse(0.16, 0.16, 0.84, 0.84, tone="paper"),
        _line(0.50, 0.50, 0.50, 0.24, width=0.06),
        _line(0.50, 0.50, 0.70, 0.60, width=0.06),
        _line(0.50, 0.17, 0.50, 0.21, width=0.05),
        _line(0.79, 0.50, 0.83, 0.50, width=0.05),
        _line(0.17, 0.50, 0.21, 0.50, width=0.05),
        _line(0.50, 0.79, 0.50, 0.83, width=0.05),
    ),
    "cup": (
        _ellipse(0.56, 0.30, 0.98, 0.74),
        _ellipse(0.64, 0.39, 0.88, 0.65, tone="paper"),
        _polygon(0.06, 0.16, 0.76, 0.16, 0.66, 0.94, 0.16, 0.94),
        _ellipse(0.06, 0.06, 0.76, 0.28, tone="light"),
    ),
    "drum": (
        _rectangle(0.08, 0.34, 0.92, 0.84),
        _bowl(0.08, 0.68, 0.92, 1.00),
        _line(0.08, 0.40, 0.29, 0.84, 0.50, 0.46, 0.71, 0.84, 0.92, 0.40, tone="paper"),
        _ellipse(0.08, 0.18, 0.92, 0.50, tone="paper"),
        _line(0.10, 0.04, 0.46, 0.34, tone="wood", width=0.06),
        _line(0.90, 0.04, 0.54, 0.34, tone="wood", width=0.06),
    ),
    "fish": (
        _polygon(0.30, 0.50, 0.02, 0.20, 0.02, 0.80),
        _ellipse(0.16, 0.20, 0.98, 0.80),
        _polygon(0.42, 0.26, 0.66, 0.04, 0.72, 0.26, tone="dark"),
        _polygon(0.42, 0.48, 0.62, 0.44, 0.52, 0.66, tone="dark"),
        _ellipse(0.76, 0.34, 0.88, 0.46, tone="paper"),
        _ellipse(0.80, 0.37, 0.86, 0.43, tone="ink"),
    ),
    "flower": (
        _line(0.50, 0.50, 0.50, 0.99, tone="leaf", width=0.07),
        _polygon(0.50, 0.86, 0.80, 0.68, 0.86, 0.82, tone="leaf"),
        _ellipse(0.35, 0.00, 0.65, 0.32),
        _ellipse(0.35, 0.38, 0.65, 0.70),
        _ellipse(0.14, 0.10, 0.46, 0.36),
        _ellipse(0.54, 0.10, 0.86, 0.36),
        _ellipse(0.14, 0.34, 0.46, 0.60),
        _ellipse(0.54, 0.34, 0.86, 0.60),
        _ellipse(0.37, 0.22, 0.63, 0.48, tone="beak"),
    ),
    "hat": (
        _ellipse(0.00, 0.62, 1.00, 0.92),
        _polygon(0.24, 0.74, 0.28, 0.14, 0.72, 0.14, 0.76, 0.74),
        _ellipse(0.28, 0.06, 0.72, 0.22, tone="light"),
        _polygon(0.25, 0.56, 0.75, 0.56, 0.76, 0.72, 0.24, 0.72, tone="stripe"),
    ),
    "house": (
        _rectangle(0.70, 0.08, 0.82, 0.36, tone="wood"),
        _rectangle(0.12, 0.44, 0.88, 0.97),
        _polygon(0.00, 0.48, 0.50, 0.02, 1.00, 0.48, tone="dark"),
        _rectangle(0.54, 0.62, 0.74, 0.97, tone="wood"),
        _rectangle(0.22, 0.58, 0.44, 0.78, tone="glass"),
    ),
    "key": (
        _rectangle(0.40, 0.43, 0.98, 0.57),
        _rectangle(0.70, 0.52, 0.79, 0.76),
        _rectangle(0.87, 0.52, 0.97, 0.70),
        _ellipse(0.02, 0.25, 0.52, 0.75),
        _ellipse(0.16, 0.39, 0.38, 0.61, tone="paper"),
    ),
    "kite": (
        _polygon(0.52, 0.00, 0.90, 0.32, 0.52, 0.76, 0.14, 0.32),
        _polygon(0.52, 0.00, 0.90, 0.32, 0.52, 0.32, tone="light"),
        _polygon(0.52, 0.32, 0.52, 0.76, 0.14, 0.32, tone="light"),
        _line(0.52, 0.76, 0.62, 0.86, 0.46, 0.92, 0.56, 1.00, width=0.04),
        _polygon(0.50, 0.84, 0.62, 0.80, 0.64, 0.92, tone="dark"),
    ),
    "lamp": (
        _rectangle(0.46, 0.44, 0.54, 0.90, tone="wood"),
        _dome(0.24, 0.80, 0.76, 1.14, tone="wood"),
        _polygon(0.30, 0.04, 0.70, 0.04, 0.94, 0.54, 0.06, 0.54),
        _line(0.76, 0.54, 0.76, 0.72, width=0.03),
        _polygon(0.34, 0.10, 0.46, 0.10, 0.40, 0.46, 0.18, 0.46, tone="light"),
    ),
    "mushroom": (
        _polygon(0.38, 0.50, 0.62, 0.50, 0.70, 0.97, 0.30, 0.97, tone="paper"),
        _dome(0.02, 0.04, 0.98, 1.08),
        _ellipse(0.20, 0.28, 0.36, 0.44, tone="paper"),
        _ellipse(0.44, 0.12, 0.60, 0.28, tone="paper"),
        _ellipse(0.66, 0.30, 0.82, 0.46, tone="paper"),
    ),
    "snowman": (
        _ellipse(0.16, 0.50, 0.84, 1.00, tone="paper"),
        _ellipse(0.28, 0.18, 0.72, 0.58, tone="paper"),
        _rectangle(0.30, 0.02, 0.70, 0.20),
        _rectangle(0.18, 0.18, 0.82, 0.26),
        _rectangle(0.26, 0.50, 0.74, 0.61),
        _rectangle(0.54, 0.58, 0.68, 0.86),
        _ellipse(0.39, 0.31, 0.46, 0.38, tone="ink"),
        _ellipse(0.55, 0.31, 0.62, 0.38, tone="ink"),
        _polygon(0.50, 0.38, 0.72, 0.44, 0.50, 0.46, tone="beak"),
    ),
    "star": (
        _polygon(
            *(0.50, 0.01, 0.62, 0.36, 0.99, 0.37, 0.70, 0.60, 0.80, 0.96),
            *(0.50, 0.75, 0.20, 0.96, 0.30, 0.60, 0.01, 0.37, 0.38, 0.36),
        ),
    ),
    "tree": (
        _rectangle(0.42, 0.60, 0.58, 0.99, tone="wood"),
        _ellipse(0.04, 0.28, 0.56, 0.72),
        _ellipse(0.44, 0.28, 0.96, 0.72),
        _ellipse(0.20, 0.02, 0.80, 0.56),
        _ellipse(0.26, 0.34, 0.74, 0.66, tone="main_bare"),
    ),
    "umbrella": (
        _line(0.50, 0.02, 0.50, 0.90, 0.62, 0.97, 0.70, 0.86, tone="wood", width=0.06),
        _dome(0.02, 0.08, 0.98, 1.00),
        _dome(0.34, 0.08, 0.66, 1.00, tone="light"),
    ),
}

NOUNS = tuple(DRAWINGS)
