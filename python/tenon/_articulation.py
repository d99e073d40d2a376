"""Reduced coordinates of any mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._convert import Array, ArrayLike, Vector, numbers, rows_in, to_c
from ._native import ffi, lib
from ._rows import Rows

if TYPE_CHECKING:
    from ._handles import Body, Joint
    from ._world import World

_NULL = ffi.NULL


class Articulation:
    """Reduced coordinates of mechanisms: of the trees of joints that start at root bodies.

    Positions are in the order of the joints, depth first, each as its kind has them; a free root has
    seven: the position of its origin and a quaternion x y z w. q, qd and force are read-only views
    that steps refresh.
    """

    __slots__ = (
        "_world", "_native", "_root_keys", "_roots", "_cuts", "_q", "_qd", "_force", "_joints", "_moved", "_slices",
    )
    _root_keys: List[Any]  # none of a robot

    def __init__(self, world: "World", roots: Sequence["Body"]) -> None:
        self._setup(world, roots)
        self._root_keys = [body._key() for body in roots]
        self._register()

    def _setup(self, world: "World", roots: Sequence["Body"], cuts: Sequence["Joint"] = ()) -> None:
        self._world = world
        self._native = ffi.new("tnp_robot *")
        body_id, joint_id = ffi.typeof("tn_body_id"), ffi.typeof("tn_joint_id")
        self._roots = ffi.new("tn_body_id[]", [to_c(body_id, body, "roots") for body in roots])
        self._cuts = ffi.new("tn_joint_id[]", [to_c(joint_id, joint, "cuts") for joint in cuts])
        made = _NULL
        if roots:
            made = world._invoke(lib.tn_articulation_create, self._definition())
            if not made:
                world._raise("the articulation was refused")
        self._native.articulation = made
        counts = lib.tn_articulation_get_counts(made)
        self._native.position_count = counts.positions
        self._native.velocity_count = counts.velocities
        self._make_rows()

    def _definition(self) -> Any:
        definition = ffi.new("tn_articulation_def *", lib.tn_default_articulation_def())
        definition.roots, definition.root_count = self._roots, len(self._roots)
        definition.cuts, definition.cut_count = self._cuts, len(self._cuts)
        return definition

    def _make_rows(self) -> None:
        counts = lib.tn_articulation_get_counts(self._native.articulation)
        self._q = self._rows(counts.positions, lib.tn_articulation_positions)
        self._qd = self._rows(counts.velocities, lib.tn_articulation_velocities)
        self._force = self._rows(counts.velocities, lib.tn_articulation_joint_forces)
        self._list_joints(counts.joints)

    def _copy_to(self, world: "World", native: Any, target: Array, applied: Array) -> "Articulation":
        """This one in a world of a batch, which has made `native`."""
        made = type(self).__new__(type(self))
        made._world, made._native = world, native
        made._root_keys = self._root_keys
        number = world._number()
        made._roots = ffi.new("tn_body_id[]", [(root.index, root.generation, number) for root in self._roots])
        made._cuts = ffi.new("tn_joint_id[]", [(cut.index, cut.generation, number) for cut in self._cuts])
        made._make_rows()
        world._robots.append(made)
        world._views += [made._q, made._qd, made._force]
        return made

    def _register(self) -> None:
        world = self._world
        # Not its rows, which know the world: what is kept for the world's end would keep the world.
        world._keep.append(self._native)
        last = world._native.robots
        if not last:
            world._native.robots = self._native
        else:
            while last.next:
                last = ffi.cast("tnp_robot *", last.next)
            last.next = self._native
        world._robots.append(self)
        world._views += [self._q, self._qd, self._force]

    def _list_joints(self, count: int) -> None:
        rows = ffi.new("tn_articulation_joint[]", max(count, 1))
        lib.tn_articulation_joints(self._native.articulation, rows, count)
        world = self._world
        self._joints = [world._handle("tn_joint_id", rows[i].joint) for i in range(count)]
        self._moved = [world._handle("tn_body_id", rows[i].body) for i in range(count)]
        self._slices = [
            (
                slice(rows[i].first_position, rows[i].first_position + rows[i].position_count),
                slice(rows[i].first_velocity, rows[i].first_velocity + rows[i].velocity_count),
            )
            for i in range(count)
        ]

    @property
    def world(self) -> "World":
        """The world that it is in."""
        return self._world

    @property
    def joints(self) -> List[Optional["Joint"]]:
        """Joints in the order of the coordinates; None for a free root."""
        return list(self._joints)

    @property
    def ranges(self) -> Array:
        """Limits of the coordinates of joints with one axis, m and rad, open for others: (positions, 2)."""
        found = np.tile((-np.inf, np.inf), (len(self._q.array), 1))
        for joint, (where, _) in zip(self._joints, self._slices):
            if joint is not None and joint.kind.name in ("HINGE", "PRISMATIC"):
                found[where] = joint.range
        return found

    @property
    def bodies(self) -> List["Body"]:
        """The bodies that the joints move."""
        return list(self._moved)

    @property
    def slices(self) -> List[Tuple[slice, slice]]:
        """Of each joint: where its numbers are in q, and in qd and force."""
        return list(self._slices)

    # -- Views

    def _rows(self, count: int, function: Any) -> Rows:
        return Rows((count,), lambda rows: self._call(function, rows.pointer))

    def _call(self, function: Any, *arguments: Any) -> None:
        world = self._world

        def call(_: Any, *more: Any) -> Any:
            return function(self._native.articulation, *more)

        if not world._invoke(call, *arguments):
            world._raise("the articulation refused the call")

    @property
    def q(self) -> Array:
        """Positions, m and rad. Setting them moves the bodies at once."""
        return self._q.view()

    @q.setter
    def q(self, value: ArrayLike) -> None:
        rows = rows_in(value, self._q.array.shape, "q")
        self._call(lib.tn_articulation_set_positions, ffi.cast("double *", ffi.from_buffer(rows)), _NULL)
        self._world._touch()

    @property
    def qd(self) -> Array:
        """Velocities, m/s and rad/s. They can be set."""
        return self._qd.view()

    @qd.setter
    def qd(self, value: ArrayLike) -> None:
        rows = rows_in(value, self._qd.array.shape, "qd")
        self._call(lib.tn_articulation_set_velocities, ffi.cast("double *", ffi.from_buffer(rows)), _NULL)
        self._world._touch()

    @property
    def force(self) -> Array:
        """Forces of the joints along their axes, N and N m, as the mean over the last step."""
        return self._force.view()

    # -- Dynamics

    @property
    def mass(self) -> float:
        """Of all its bodies, kg."""
        return float(sum(body.mass.mass for body in self.bodies))

    @property
    def center_of_mass(self) -> Array:
        """Of all its bodies, m."""
        masses = np.array([body.mass.mass for body in self.bodies])
        return np.asarray(masses @ np.array([body.center for body in self.bodies]) / masses.sum())

    def apply_forces(self, forces: ArrayLike) -> None:
        """Applies generalised forces, N and N m, during the next step."""
        rows = rows_in(forces, self._qd.array.shape, "forces")
        self._call(lib.tn_articulation_apply_forces, ffi.cast("double *", ffi.from_buffer(rows)))

    def _out(self, function: Any, *arguments: Any, shape: Tuple[int, ...] = ()) -> Array:
        out = np.zeros(shape or self._qd.array.shape)
        if out.size:
            self._call(function, *arguments, ffi.cast("double *", ffi.from_buffer(out)))
        return out

    def mass_matrix(self) -> Array:
        """The mass matrix M: qd M qd / 2 is the kinetic energy."""
        n = len(self._qd.array)
        return self._out(lib.tn_articulation_mass_matrix, shape=(n, n))

    def bias_forces(self) -> Array:
        """Coriolis and centrifugal forces and minus gravity, N and N m."""
        return self._out(lib.tn_articulation_bias_forces)

    def inverse_dynamics(self, accelerations: ArrayLike) -> Array:
        """The generalised forces for given accelerations."""
        rows = rows_in(accelerations, self._qd.array.shape, "accelerations")
        return self._out(lib.tn_articulation_inverse_dynamics, ffi.cast("double *", ffi.from_buffer(rows)))

    def forward_dynamics(self, forces: ArrayLike) -> Array:
        """The accelerations under given forces, without loops, drives and contacts."""
        rows = rows_in(forces, self._qd.array.shape, "forces")
        return self._out(lib.tn_articulation_forward_dynamics, ffi.cast("double *", ffi.from_buffer(rows)))

    def jacobian(self, body: "Body", point: Vector = (0.0, 0.0, 0.0)) -> Tuple[Array, Array]:
        """Jacobians (3, velocities) of the velocity of a point and of the angular velocity of a body."""
        linear, angular = np.zeros((3, len(self._qd.array))), np.zeros((3, len(self._qd.array)))
        self._call(
            lib.tn_articulation_jacobian,
            to_c(ffi.typeof("tn_body_id"), body, "body"),
            numbers(point, 3, "point"),
            ffi.cast("double *", ffi.from_buffer(linear)),
            ffi.cast("double *", ffi.from_buffer(angular)),
        )
        return linear, angular

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {len(self._joints)} joints, {len(self._qd.array)} degrees of freedom>"

    # -- Copies

    def __reduce__(self) -> Any:
        return _of_copy, (self._world, self._world._robots.index(self))

    def __copy__(self) -> "Articulation":
        return self

    def _parts(self) -> Dict[str, Any]:
        return {"kind": type(self), "before": None, "roots": self._root_keys}

    @classmethod
    def _rebuild(cls, world: "World", parts: Dict[str, Any]) -> None:
        number = world._number()
        ids = [ffi.new("tn_body_id *", (*key, number))[0] for key in parts["roots"]]
        cls(world, [world._handle("tn_body_id", id) for id in ids])


def _of_copy(world: "World", index: int) -> Articulation:
    """The same one in a copy of its world, which is copied with all that it has."""
    return world._robots[index]


__all__ = ["Articulation"]
