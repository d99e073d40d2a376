"""Rotations as unit quaternions x y z w, one or arrays of them: (..., 4)."""

from __future__ import annotations

import numpy as np

from ._convert import Array, ArrayLike


def _units(rotation: ArrayLike) -> Array:
    q = np.asarray(rotation, float)
    if q.shape[-1:] != (4,):
        raise ValueError(f"a rotation has four numbers x y z w, not the shape {q.shape}")
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if not np.all(np.isfinite(length) & (length > 0.0)):
        raise ValueError("a rotation must be finite and not zero")
    return np.asarray(q / length)


def about(axis: ArrayLike, angle: ArrayLike) -> Array:
    """By `angle` rad about an axis of any length but zero."""
    direction = np.asarray(axis, float)
    if direction.shape[-1:] != (3,):
        raise ValueError(f"an axis has three numbers, not the shape {direction.shape}")
    length = np.linalg.norm(direction, axis=-1, keepdims=True)
    if not np.all(np.isfinite(length) & (length > 0.0)):
        raise ValueError("an axis must be finite and not zero")
    half = 0.5 * np.asarray(angle, float)[..., None]
    vector = direction / length * np.sin(half)
    return np.concatenate([vector, np.broadcast_to(np.cos(half), (*vector.shape[:-1], 1))], -1)


def multiply(first: ArrayLike, second: ArrayLike) -> Array:
    """The rotation that does `second`, then `first`."""
    a, b = _units(first), _units(second)
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    return np.concatenate([vector, aw * bw - np.sum(av * bv, -1, keepdims=True)], -1)


def inverse(rotation: ArrayLike) -> Array:
    """The rotation back."""
    return np.asarray(_units(rotation) * (-1.0, -1.0, -1.0, 1.0))


def rotate(rotation: ArrayLike, vectors: ArrayLike) -> Array:
    """Vectors (..., 3), rotated."""
    q, v = _units(rotation), np.asarray(vectors, float)
    turned = 2.0 * np.cross(q[..., :3], v)
    return np.asarray(v + q[..., 3:] * turned + np.cross(q[..., :3], turned))


def euler(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
    """By `x` rad about the x axis, then by `y` and `z` about the fixed y and z axes (roll, pitch, yaw)."""
    turns = [about(axis, angle) for axis, angle in zip(np.eye(3), (x, y, z))]
    return multiply(turns[2], multiply(turns[1], turns[0]))


def matrix(rotation: ArrayLike) -> Array:
    """As a matrix (..., 3, 3), whose columns are the rotated axes."""
    q = _units(rotation)
    return np.stack([rotate(q, axis) for axis in np.eye(3)], -1)


def from_matrix(matrices: ArrayLike) -> Array:
    """Of a matrix (..., 3, 3) that is a rotation."""
    m = np.asarray(matrices, float)
    if m.shape[-2:] != (3, 3) or not np.allclose(m @ np.swapaxes(m, -1, -2), np.eye(3), atol=1e-6):
        raise ValueError("a rotation matrix is 3 x 3 and orthonormal")
    if not np.all(np.linalg.det(m) > 0.0):
        raise ValueError("the matrix mirrors: its determinant is negative")
    # 4 q q^T: its longest row is the quaternion with the best conditioned length.
    x, y, z = (m[..., 0, 0], m[..., 1, 1], m[..., 2, 2])
    products = np.empty((*m.shape[:-2], 4, 4))
    for i, value in enumerate((1 + x - y - z, 1 - x + y - z, 1 - x - y + z, 1 + x + y + z)):
        products[..., i, i] = value
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[..., i, j] = products[..., j, i] = m[..., i, j] + m[..., j, i]
        products[..., k, 3] = products[..., 3, k] = m[..., j, i] - m[..., i, j]
    longest = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), -1)
    return _units(np.take_along_axis(products, longest[..., None, None], -2)[..., 0, :])


def from_wxyz(rotation: ArrayLike) -> Array:
    """Of a quaternion w x y z, as MuJoCo writes it."""
    return np.roll(_units(rotation), -1, -1)


__all__ = ["about", "euler", "from_matrix", "from_wxyz", "inverse", "matrix", "multiply", "rotate"]
