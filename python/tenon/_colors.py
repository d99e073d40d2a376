"""Colours of bodies in pictures; the engine knows none."""

from __future__ import annotations

import re
from typing import Any, Tuple, Union

from ._convert import Vector, numbers

Color = Tuple[float, float, float]
ColorLike = Union[str, Vector]

PALETTE = [(0.80, 0.47, 0.27), (0.36, 0.55, 0.72), (0.55, 0.65, 0.36), (0.72, 0.55, 0.68), (0.85, 0.70, 0.35)]
GROUND = (0.78, 0.78, 0.76)
NAMES = {
    "black": (0.10, 0.10, 0.10), "blue": (0.20, 0.35, 0.75), "brown": (0.50, 0.33, 0.20), "gray": (0.55, 0.55, 0.55),
    "green": (0.25, 0.60, 0.30), "orange": (0.90, 0.55, 0.15), "purple": (0.50, 0.30, 0.60), "red": (0.80, 0.20, 0.18),
    "white": (0.95, 0.95, 0.95), "yellow": (0.92, 0.80, 0.20),
}


def color_in(value: Any) -> Color:
    """Three numbers from 0 to 1, "#rrggbb", or a name."""
    if isinstance(value, str):
        if value in NAMES:
            return NAMES[value]
        if not re.fullmatch("#[0-9a-fA-F]{6}", value):
            raise ValueError(f"color must be three numbers, '#rrggbb' or one of {', '.join(NAMES)}, not {value!r}")
        red, green, blue = (int(value[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
        return red, green, blue
    red, green, blue = numbers(value, 3, "color")
    if not all(0.0 <= part <= 1.0 for part in (red, green, blue)):
        raise ValueError(f"the parts of a color are from 0 to 1, not {value!r}")
    return red, green, blue
