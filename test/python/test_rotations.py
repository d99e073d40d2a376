"""Rotations: identities of random ones."""

import numpy as np
import pytest

from tenon import rotations as r

RNG = np.random.default_rng(5)
TURNS = RNG.normal(size=(200, 4))
TURNS /= np.linalg.norm(TURNS, axis=1, keepdims=True)
VECTORS = RNG.normal(size=(200, 3))


def test_matrices_and_quaternions_are_the_same_rotations():
    matrices = r.matrix(TURNS)
    assert np.einsum("nij,nj->ni", matrices, VECTORS) == pytest.approx(r.rotate(TURNS, VECTORS), abs=1e-12)
    assert np.linalg.det(matrices) == pytest.approx(1.0)
    back = r.from_matrix(matrices)
    assert np.abs(np.sum(back * TURNS, 1)) == pytest.approx(1.0)
    half_turns = r.from_matrix(r.matrix(r.about(np.eye(3), np.pi)))
    assert np.abs(half_turns[:, :3]) == pytest.approx(np.eye(3))


def test_products_and_inverses():
    both = r.multiply(TURNS, TURNS[::-1])
    assert r.rotate(both, VECTORS) == pytest.approx(r.rotate(TURNS, r.rotate(TURNS[::-1], VECTORS)), abs=1e-12)
    assert r.multiply(TURNS, r.inverse(TURNS)) == pytest.approx(np.tile((0, 0, 0, 1.0), (200, 1)), abs=1e-12)


def test_turns_about_axes():
    axis = VECTORS[0]
    assert r.rotate(r.about(axis, 1.2), axis) == pytest.approx(axis)
    assert r.rotate(r.about((0, 0, 2), np.pi / 2), (1, 0, 0)) == pytest.approx((0, 1, 0))
    assert r.about((0, 1, 0), [0.1, 0.2]).shape == (2, 4)
    assert r.euler(0.3, 0, 0) == pytest.approx(r.about((1, 0, 0), 0.3))
    x, y, z = 0.3, -0.7, 1.1
    turned = r.matrix(r.about((0, 0, 1), z)) @ r.matrix(r.about((0, 1, 0), y)) @ r.matrix(r.about((1, 0, 0), x))
    assert r.matrix(r.euler(x, y, z)) == pytest.approx(turned)
    assert r.from_wxyz((1, 0, 0, 0)) == pytest.approx((0, 0, 0, 1))


@pytest.mark.parametrize("call", [
    lambda: r.about((0, 0, 0), 1.0), lambda: r.about((1, 0), 1.0), lambda: r.about((1, 0, np.nan), 1.0),
    lambda: r.rotate((1, 2, 3), (1, 2, 3)), lambda: r.matrix((0, 0, 0, 0)), lambda: r.multiply((0, 0, 0, 1), "x"),
    lambda: r.from_matrix(np.ones((3, 3))), lambda: r.from_matrix(np.diag((1, 1, -1))),
])
def test_bad_rotations(call):
    with pytest.raises(ValueError):
        call()
