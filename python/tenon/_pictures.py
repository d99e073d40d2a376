"""Cameras: depth and pictures by rays, and films of them."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Tuple

import numpy as np

from ._convert import Array, Vector, numbers

if TYPE_CHECKING:
    from ._world import World

_LIGHT = np.array((0.4, 0.8, 0.45)) / np.linalg.norm((0.4, 0.8, 0.45))
_SKY = np.array((0.93, 0.95, 0.97))


@dataclass
class Camera:
    """A camera without distortion."""

    position: Vector = (4.0, 3.0, 6.0)
    """m"""
    target: Vector = (0.0, 0.5, 0.0)
    """what is in the middle of the picture, m"""
    up: Vector = (0.0, 1.0, 0.0)
    """what is up in the picture"""
    angle: float = 40.0
    """degrees, between top and bottom"""
    width: int = 320
    """pixels"""
    height: int = 240
    """pixels"""
    far: float = 100.0
    """m; what is farther is not seen"""

    def directions(self) -> Array:
        """Unit vectors through the middle of each pixel: (height, width, 3)."""
        eye, target = (np.array(numbers(v, 3, n)) for v, n in ((self.position, "position"), (self.target, "target")))
        ahead, up = target - eye, np.array(numbers(self.up, 3, "up"))
        right = np.cross(ahead, up)
        if not (np.isfinite(right).all() and np.linalg.norm(right) > 1e-12 * np.linalg.norm(ahead)):
            raise ValueError("position, target and up must be finite and span a picture")
        if not (0.0 < self.angle < 180.0 and self.far > 0.0 and self.width > 0 and self.height > 0):
            raise ValueError("angle must be from 0 to 180 degrees; far, width and height must be positive")
        ahead, right = ahead / np.linalg.norm(ahead), right / np.linalg.norm(right)
        top = np.tan(0.5 * np.radians(self.angle))
        y = top * (1.0 - (np.arange(self.height) + 0.5) * 2.0 / self.height)
        x = top * ((np.arange(self.width) + 0.5) * 2.0 - self.width) / self.height
        rays = ahead + y[:, None, None] * np.cross(right, ahead) + x[None, :, None] * right
        return np.asarray(rays / np.linalg.norm(rays, axis=-1, keepdims=True))

    def rays(self) -> Tuple[Array, Array]:
        """Origins and displacements of a ray through each pixel, row by row, for World.rays()."""
        displacements = self.far * self.directions().reshape(-1, 3)
        return np.tile(np.asarray(self.position, float), (len(displacements), 1)), displacements


def see(world: "World", camera: Camera) -> Array:
    """What each pixel hits, as World.rays(): (height, width)."""
    if not isinstance(camera, Camera):
        raise TypeError(f"camera must be a Camera, not {camera!r}")
    return world.rays(*camera.rays()).reshape(camera.height, camera.width)


def depth(hits: Array, camera: Camera) -> Array:
    """Distances from the camera, m; infinite where nothing is hit."""
    return np.where(hits["hit"], camera.far * hits["fraction"], np.inf)


def shade(world: "World", hits: Array) -> Array:
    """Colours (height, width, 3) of 8 bits, lit from one side, with shadows."""
    light = np.clip(hits["normal"] @ _LIGHT, 0.0, 1.0)
    lit = np.nonzero((light > 0.0) & hits["hit"])
    starts = hits["point"][lit] + 1e-3 * hits["normal"][lit]
    light[lit] *= ~world.rays(starts, np.tile(30.0 * _LIGHT, (len(starts), 1)))["hit"]
    colors = world._colors_of(hits) * (0.45 + 0.55 * light)[..., None]
    picture = np.where(hits["hit"][..., None], colors, _SKY)
    return (255.0 * np.clip(picture, 0.0, 1.0) + 0.5).astype(np.uint8)


# ---- PNG -----------------------------------------------------------------------------------------


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(frames: List[Array], rate: float) -> bytes:
    """Pictures of one size as a PNG file, which is animated if there are several."""
    height, width = frames[0].shape[:2]
    parts = [b"\x89PNG\r\n\x1a\n", _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))]
    if len(frames) > 1:
        parts.append(_chunk(b"acTL", struct.pack(">II", len(frames), 0)))
    number = 0
    for i, frame in enumerate(frames):
        if len(frames) > 1:
            times = struct.pack(">HHBB", 1000, max(1, min(int(1000 * rate + 0.5), 65535)), 0, 0)
            parts.append(_chunk(b"fcTL", struct.pack(">IIIII", number, width, height, 0, 0) + times))
            number += 1
        rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with the number of its filter
        rows[:, 1:] = frame.reshape(height, -1)
        data = zlib.compress(rows.tobytes(), 6)
        if i == 0:
            parts.append(_chunk(b"IDAT", data))
        else:
            parts.append(_chunk(b"fdAT", struct.pack(">I", number) + data))
            number += 1
    return b"".join(parts) + _chunk(b"IEND", b"")


class Film:
    """Pictures of a world over time.

        film = tenon.Film(world, tenon.Camera(position=(3, 2, 4)))
        for _ in range(120):
            world.step(1 / 60)
            film.take()
        film.save("film.png", rate=60)
    """

    def __init__(self, world: "World", camera: Camera = Camera()) -> None:
        self.world = world
        """what is filmed"""
        self.camera = camera
        """which may move between pictures, but not change its size"""
        self.frames: List[Array] = []
        """(height, width, 3) of 8 bits"""
        if not hasattr(world, "image"):
            raise TypeError(f"world must be a World, not {world!r}")

    def take(self) -> Array:
        """Adds a picture of the present state, and returns it."""
        frame = self.world.image(self.camera)
        if self.frames and frame.shape != self.frames[0].shape:
            raise ValueError("all pictures of a film have one size")
        self.frames.append(frame)
        return frame

    def save(self, path: Any, *, rate: float = 60.0) -> None:
        """Writes an animated PNG, which browsers and notebooks play, or a .gif if Pillow is installed.

        rate: pictures a second
        """
        if not self.frames:
            raise ValueError("the film is empty: take() adds pictures")
        if not 0.01 <= rate <= 65.0:
            raise ValueError(f"rate must be from 0.01 to 65 pictures a second, not {rate!r}")
        if Path(path).suffix.lower() != ".gif":
            Path(path).write_bytes(png(self.frames, rate))
            return
        from PIL import Image  # type: ignore[import]

        images = [Image.fromarray(frame) for frame in self.frames]
        images[0].save(path, save_all=True, append_images=images[1:], duration=1000.0 / rate, loop=0)

    def _repr_png_(self) -> bytes:
        return png(self.frames, 60.0)

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        return f"<Film of {len(self)} pictures>"


__all__ = ["Camera", "Film"]
