"""Written by generate.py from the public headers: do not edit."""
# mypy: disable-error-code="misc,no-any-return"

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    Union,
    cast,
)

from ._calls import Handle, SpecCalls, WorldCalls
from ._convert import (
    UNSET,
    Array,
    Matrix,
    Transform,
    TransformLike,
    Value,
    Vector,
)
from ._native import lib

if TYPE_CHECKING:
    from ._handles import Attachment, Body, Geometry, Joint, Shape, Soft
    from ._specs import SoftMesh

VERSION_MAJOR = 0
#: Of these headers. Names and behaviour may change from one minor version to the next while it is 0.
VERSION_MINOR = 1
#: Grows with new names.
VERSION_PATCH = 0
#: Grows with fixes.
VERSION_STRING = "0.1.0"
#: All three numbers as text.
PI = 3.14159265358979323846
#: Half a turn, rad.
MAX_DISTANCE = 1e9
#: The range of positions, from the origin along each axis, m. Calls refuse what is beyond; what leaves it in a step is stopped there.
MAX_RATE = 1e12
#: The largest component of a velocity, an angular velocity or an acceleration, SI. Calls refuse what is or leads to more; what becomes faster in a step is stopped.
POSE_NUMBERS = 7
#: position x y z in m, rotation x y z w
VELOCITY_NUMBERS = 6
#: of the centre of mass x y z in m/s, angular x y z in rad/s
FORCE_NUMBERS = 6
#: force x y z in N, torque x y z in N m
MATRIX_NUMBERS = 16
#: 4 x 4, by columns
COUPLING_AXES = 8
#: Most axes of a coupling.
COUPLING_POINTS = 16
#: Most points of a coupling's path.


class LogLevel(enum.IntEnum):
    """How serious a message is."""

    INFO = 0
    """worth knowing"""
    WARNING = 1
    """done, but not as asked for"""
    ERROR = 2
    """a call was refused and changed nothing"""


class Method(enum.IntEnum):
    """How constraints are solved."""

    TENON = 0
    """the default: XPBD in impulse form"""
    XPBD = 1
    """Mueller et al. 2020, Algorithm 2: positions, Gauss-Seidel"""
    JACOBI = 2
    """the same with averaged corrections"""


class Quality(enum.IntEnum):
    """Named numbers of substeps, for steps of 1/60 s, bodies of about a metre and the gravity of the
    Earth; tn_substeps_for() scales them to others.
    """

    FAST = 4
    """for effects"""
    DEFAULT = 8
    """for games"""
    ACCURATE = 20
    """for measurements"""


class StepStatus(enum.IntFlag):
    """What happened in a step, as bits; zero is a clean step."""

    OK = 0
    """nothing to report"""
    REJECTED = 1
    """bad argument; nothing was done"""
    OUT_OF_MEMORY = 2
    """nothing was done"""
    NON_FINITE = 4
    """a body or soft body overflowed or left the range: put back, stopped"""
    SERIAL = 8
    """more constraints on one body than colours: the rest ran serially"""
    ITERATIVE = 16
    """a net of joints too dense to be solved directly was iterated over"""
    CROWDED = 32
    """a body lay deep inside more than 32 others, or a limit of pairs was met: some contacts wait
    """


class BodyType(enum.IntEnum):
    """How a body moves."""

    STATIC = 0
    """never moves"""
    KINEMATIC = 1
    """moves as told, pushes but is not pushed"""
    DYNAMIC = 2
    """moves by forces"""


class ShapeKind(enum.IntEnum):
    """What a shape is, and which fields of tn_shape_def give its size."""

    SPHERE = 0
    """radius"""
    CAPSULE = 1
    """along y: radius, half_length of the straight part"""
    BOX = 2
    """half_extents"""
    CYLINDER = 3
    """along y: radius, half_length"""
    CONE = 4
    """along y: radius of the base at -half_length, tip at +half_length"""
    HULL = 5
    """geometry: tn_hull_create()"""
    PLANE = 6
    """the half space y < 0 is solid; not on dynamic bodies"""
    MESH = 7
    """geometry: tn_mesh_create(); not on dynamic bodies"""
    HEIGHT_FIELD = 8
    """geometry: tn_height_field_create(); not on dynamic bodies"""
    WIRE = 9
    """geometry: tn_wire_create(); a tube of `radius`"""


class Combine(enum.IntEnum):
    """How the values of two materials become that of a contact. Where two materials differ in this,
    the later of the list counts.
    """

    AVERAGE = 0
    """the mean"""
    MINIMUM = 1
    """the smaller"""
    MULTIPLY = 2
    """the product"""
    MAXIMUM = 3
    """the larger"""


class EventKind(enum.IntEnum):
    """What happened between two shapes."""

    BEGIN = 0
    """two shapes touch"""
    END = 1
    """they part, or one of them is gone"""
    HIT = 2
    """they begin to touch, faster than bodies that come to rest"""
    SENSOR_BEGIN = 3
    """shape B enters sensor A"""
    SENSOR_END = 4
    """shape B leaves sensor A, or one of them is gone"""


class JointKind(enum.IntEnum):
    """What a joint leaves free. It holds frame B (on body B) relative to frame A (on body A). The x,
    y, z axes of the frames are a, b, c of Mueller et al. sec. 3.4.
    """

    DISTANCE = 0
    """length between the two points: linear[0] is its range"""
    BALL = 1
    """points coincide; angular[0] limits twist about a, `swing` the cone"""
    HINGE = 2
    """turns about a: angular[0]"""
    FIXED = 3
    """nothing moves"""
    PRISMATIC = 4
    """slides along a: linear[0]"""
    CYLINDER = 5
    """slides along and turns about a: linear[0], angular[0]"""
    UNIVERSAL = 6
    """turns about a of A (angular[0]) and b of B (angular[1])"""
    GENERIC = 7
    """every axis by its range; angular[] are parts of the rotation vector"""


class JointAxis(enum.IntEnum):
    """The axes of a joint: along and about a, b, c of its frames. Which of them a kind leaves free:

    | kind | free axes |
    |---|---|
    | distance | TN_LINEAR_A: the line between the points |
    | ball | TN_ANGULAR_A stands for the whole rotation, see tn_axis |
    | hinge | TN_ANGULAR_A |
    | prismatic | TN_LINEAR_A |
    | cylinder | TN_LINEAR_A, TN_ANGULAR_A |
    | universal | TN_ANGULAR_A (about a of A), TN_ANGULAR_B (about b of B) |
    | generic | all whose range is not a single value; angles are parts of the rotation vector |
    """

    LINEAR_A = 0
    """along a"""
    LINEAR_B = 1
    """along b"""
    LINEAR_C = 2
    """along c"""
    ANGULAR_A = 3
    """about a"""
    ANGULAR_B = 4
    """about b"""
    ANGULAR_C = 5
    """about c"""


class SoftMaterial(enum.IntEnum):
    """What tetrahedra are made of."""

    COROTATED = 0
    """linear elasticity in a frame that turns with the element; always stable"""
    SHAPE = 1
    """pulled to its rest shape as a whole; youngs_modulus gives the scale"""
    VOLUME = 2
    """keeps its volume only; give the body edges as well"""
    NEO_HOOKEAN = 3
    """Stays elastic in large strains, but only as stiff as the substeps allow: see the manual."""


class SoftEventKind(enum.IntEnum):
    """What happened to a soft body."""

    TOUCH = 0
    """it begins to touch a shape, or another soft body"""
    PART = 1
    """it no longer does, or one of them is gone"""
    RELEASE = 2
    """an attachment broke"""
    TEAR = 3
    """it tore at a particle"""


class Number(enum.IntEnum):
    """The type of the numbers of a row."""

    FLOAT = 0
    """float, 4 bytes"""
    DOUBLE = 1
    """double, 8 bytes"""


class ImportFormat(enum.IntEnum):
    """Format of a file."""

    AUTO = 0
    """found out from the file's content"""
    MJCF = 1
    """XML of MuJoCo"""
    URDF = 2
    """XML of ROS"""
    TUTORIAL = 3
    """JSON of the tutorial on joints"""


class ImportFate(enum.IntEnum):
    """What became of a part of a file."""

    HONOURED = 0
    """does what the format says"""
    APPROXIMATED = 1
    """has an effect close to what the format says"""
    IGNORED = 2
    """has no effect, though it would change the motion"""
    VISUAL = 3
    """has no effect, and would change only how things look"""
    MISSING = 4
    """a file that could not be found or used; its geoms are left out"""


class ImportBase(enum.IntEnum):
    """How the root link of a URDF file stands in the world."""

    AUTO = 0
    """free, unless it is called `world` or neither it nor what is fixed to it has a mass"""
    FIXED = 1
    """fixed to the world"""
    FREE = 2
    """free to move"""


class BatchField(enum.IntEnum):
    """What an array of a batch holds. Items are in slot order, as in World.bodies,
    World.shapes and World.joints. Joints have TN_JOINT_AXIS_COUNT numbers, one for each
    axis.
    """

    POSES = 0
    """of bodies, TN_POSE_NUMBERS"""
    VELOCITIES = 1
    """of bodies, TN_VELOCITY_NUMBERS"""
    FORCES = 2
    """on bodies in the next step, TN_FORCE_NUMBERS; only written"""
    CONTACT_FORCES = 3
    """on bodies by contacts, mean over the last step, N, 3; only read"""
    POSITIONS = 4
    """of joints, as tn_joint_state; only read"""
    RATES = 5
    """of joints, as tn_joint_state; only read"""
    DRIVE_FORCES = 6
    """of joints, as tn_joint_state; only read"""
    TARGETS = 7
    """of drives, m or rad"""
    TARGET_RATES = 8
    """of drives, m/s or rad/s"""
    DRIVE_INPUTS = 9
    """feed-forward of drives, N or N m"""
    PARTICLES = 10
    """positions of all particles, soft body after soft body, m, 3; only read"""
    Q = 11
    """coordinates of tn_batch_articulate(), 1"""
    QD = 12
    """their rates, 1"""
    Q_FORCES = 13
    """generalised forces in the next step, 1; only written"""
    GRAVITY = 14
    """parameter: of the world, m/s^2, one item of 3"""
    MASSES = 15
    """parameter: of dynamic bodies, kg, 1; 0 of others, and left alone"""
    GRAVITY_SCALES = 16
    """parameter: of bodies, 1"""
    FRICTIONS = 17
    """parameter: of shapes, static and dynamic, 1"""
    RESTITUTIONS = 18
    """parameter: of shapes, 1"""
    STIFFNESSES = 19
    """parameter: of drives"""
    DAMPINGS = 20
    """parameter: of drives"""
    SENSORS = 21
    """of shapes: how many shapes overlap it now, if it is a convex sensor, 1; 0 of others; sensors and shapes of its own body do not count; only read
    """


@dataclass
class VersionInfo(Value):
    """A version: see tn_version()."""

    _ctype = "tn_version_info"

    major: int = UNSET
    """as TN_VERSION_MAJOR"""
    minor: int = UNSET
    """as TN_VERSION_MINOR"""
    patch: int = UNSET
    """as TN_VERSION_PATCH"""


@dataclass
class Limits(Value):
    """How much a world may hold. What is beyond has to wait or is refused, with a message, and the
    world goes on; what a restore brings in counts, but is not refused for it.
    """

    _ctype = "tn_limits"

    pairs: int = UNSET
    """of shapes that are close; further ones wait: their shapes pass through; 1e7"""
    shape_pairs: int = UNSET
    """of a shape of a dynamic body with those of other dynamic bodies; 1e5"""
    particles: int = UNSET
    """of all soft bodies, at most 1e7; Soft.create fails; 1e7"""
    bytes: int = UNSET
    """memory; what needs more fails as if there were none; 0: no limit"""


@dataclass
class Profile(Value):
    """How long the parts of the last step took, in the unit of the clock."""

    _ctype = "tn_profile"

    pairs: float = UNSET
    """broad phase: which shapes are close"""
    manifolds: float = UNSET
    """narrow phase: where they touch"""
    prepare: float = UNSET
    """data for the substeps"""
    solve: float = UNSET
    """all substeps"""
    finish: float = UNSET
    """read-out, events, sleep"""


@dataclass
class Counters(Value):
    """How much of everything a world has: see World.counters."""

    _ctype = "tn_counters"

    bodies: int = UNSET
    """rigid bodies"""
    joints: int = UNSET
    """joints"""
    colors: int = UNSET
    """colours of the joints that Gauss-Seidel solves"""
    blocks: int = UNSET
    """blocks of these joints"""
    shapes: int = UNSET
    """shapes"""
    geometries: int = UNSET
    """hulls, meshes, height fields and wires"""
    pairs: int = UNSET
    """pairs of shapes that are close"""
    contacts: int = UNSET
    """manifolds that touch or nearly"""
    points: int = UNSET
    """points of all manifolds"""
    awake: int = UNSET
    """dynamic bodies that are awake"""
    swept: int = UNSET
    """bodies that continuous collision stopped at the end of the last step"""
    softs: int = UNSET
    """soft bodies"""
    particles: int = UNSET
    """particles of all soft bodies"""
    soft_rows: int = UNSET
    """constraints between particles"""
    touches: int = UNSET
    """contacts of particles, with shapes and with each other"""
    bytes: int = UNSET
    """memory that the world holds"""


@dataclass
class Mass(Value):
    """Mass properties: see the tn_mass_* functions."""

    _ctype = "tn_mass"

    mass: float = UNSET
    """kg, positive"""
    center: Array = UNSET
    """centre of mass in the body's frame, m"""
    inertia: Array = UNSET
    """about that centre, in the body's axes, kg m^2; one that a solid can have"""


@dataclass
class Energy(Value):
    """Energy, J."""

    _ctype = "tn_energy"

    kinetic: float = UNSET
    """of linear and angular motion"""
    potential: float = UNSET
    """in the field of gravity, zero at the origin"""
    elastic: float = UNSET
    """of springs, compliant joints and soft bodies"""
    total: float = UNSET
    """the sum"""


@dataclass
class Momentum(Value):
    """Mass and momentum of a set of bodies."""

    _ctype = "tn_momentum"

    mass: float = UNSET
    """kg"""
    linear: Array = UNSET
    """kg m/s"""
    angular: Array = UNSET
    """kg m^2/s, about the point that was asked for"""


@dataclass
class Material(Value):
    """The surface of a shape or soft body."""

    _ctype = "tn_material"

    static_friction: float = UNSET
    """coefficient up to which a contact sticks, 0 to 1e6; 0.6"""
    dynamic_friction: float = UNSET
    """coefficient while it slides, not above the static one; 0.6"""
    restitution: float = UNSET
    """speed after an impact over that before it, 0 to 1; 0"""
    rolling_friction: float = UNSET
    """m, 0 to 1e6: torque against rolling over the normal force; 0"""
    spinning_friction: float = UNSET
    """m, 0 to 1e6: torque about the normal over the normal force; 0"""
    compliance: float = UNSET
    """m/N, 0 to 1e6; 0 is rigid"""
    surface_velocity: Array = UNSET
    """m/s in the body's frame, for a conveyor; 0"""
    combine_friction: Combine = UNSET
    """for all kinds of friction; AVERAGE"""
    combine_restitution: Combine = UNSET
    """AVERAGE"""
    priority: int = UNSET
    """Of two materials that differ in this the larger one's friction and restitution count alone; 0.
    """


@dataclass
class Filter(Value):
    """Which shapes collide: two shapes do if the mask of each has a category bit of the other, unless
    they share a group that is not zero. Then they collide if the group is positive, and do not if
    it is negative.
    """

    _ctype = "tn_filter"

    category: int = UNSET
    """bits; 1"""
    mask: int = UNSET
    """categories that it collides with; all"""
    group: int = UNSET
    """0: none"""


@dataclass
class WirePoint(Value):
    """A point of a wire's axis."""

    _ctype = "tn_wire_point"

    position: Array = UNSET
    """m, in the shape's frame"""
    tangent: Array = UNSET
    """m: derivative by a parameter that grows by one from point to point"""


@dataclass
class ContactPoint(Value):
    """A point of a contact."""

    _ctype = "tn_contact_point"

    position: Array = UNSET
    """midway between the two surfaces, m"""
    gap: float = UNSET
    """m; negative: penetration"""
    normal_force: float = UNSET
    """N, mean over the last step"""


@dataclass
class Contact(Value):
    """What a contact does now. Forces act on B, as the mean over the last step."""

    _ctype = "tn_contact"

    shape_a: Optional[Shape] = UNSET
    """first shape"""
    shape_b: Optional[Shape] = UNSET
    """second shape"""
    body_a: Optional[Body] = UNSET
    """body of the first shape; null: the world"""
    body_b: Optional[Body] = UNSET
    """body of the second shape; null: the world"""
    normal: Array = UNSET
    """unit, from A to B"""
    count: int = UNSET
    """of points, 1 to 4"""
    points: Array = UNSET
    """the first `count` are in use"""
    friction_force: Array = UNSET
    """N, on B"""
    friction_torque: float = UNSET
    """N m, on B, about the normal"""


@dataclass
class ContactEvent(Value):
    """Shapes that touched or parted in the last step."""

    _ctype = "tn_contact_event"

    kind: EventKind = UNSET
    """what happened"""
    shape_a: Optional[Shape] = UNSET
    """first shape; the sensor"""
    shape_b: Optional[Shape] = UNSET
    """second shape"""
    body_a: Optional[Body] = UNSET
    """body of the first shape; null: the world"""
    body_b: Optional[Body] = UNSET
    """body of the second shape; null: the world"""
    point: Array = UNSET
    """where they begin to touch, m"""
    normal: Array = UNSET
    """unit, from A to B"""
    speed: float = UNSET
    """of approach, m/s"""
    impulse: float = UNSET
    """Of all normal forces between the two shapes, over the step in which they begin to touch, N s.
    An impact at the very end of that step may give a part of its impulse in the next one.
    """


@dataclass
class SleepEvent(Value):
    """A body that fell asleep or woke in the last step."""

    _ctype = "tn_sleep_event"

    body: Optional[Body] = UNSET
    """which one"""
    asleep: bool = UNSET
    """it fell asleep; false: it woke"""


@dataclass
class Hit(Value):
    """What a query found."""

    _ctype = "tn_hit"

    shape: Optional[Shape] = UNSET
    """null: a soft body, or nothing"""
    body: Optional[Body] = UNSET
    """of the shape; null: the world"""
    soft: Optional[Soft] = UNSET
    """null: a shape, or nothing"""
    triangle: int = UNSET
    """of the soft body"""
    point: Array = UNSET
    """on the shape, m"""
    normal: Array = UNSET
    """of its surface there, unit"""
    fraction: float = UNSET
    """of the way until the hit, 0 to 1"""
    distance: float = UNSET
    """of World.closest_point, m; negative inside"""
    hit: bool = UNSET
    """false: there is nothing, and the rest is zero"""


@dataclass
class QueryFilter(Value):
    """What a query finds: from the default."""

    _ctype = "tn_query_filter"

    category: int = UNSET
    """bits that the mask of a shape must have; all"""
    mask: int = UNSET
    """categories of shapes to find; all"""
    sensors: bool = UNSET
    """find sensors as well; false"""


@dataclass
class Drive(Value):
    """A servo, motor or force along an axis with the position q and the rate q':

    force = clamp(stiffness (target - q) + damping (velocity - q') + force, limits)

    All zero is no drive. See tn_servo(), tn_servo_tuned(), tn_motor() and tn_stiffness(). Units are
    those of the axis: m and N, or rad and N m.
    """

    _ctype = "tn_drive"

    target: float = UNSET
    """m or rad; angles of hinge, cylinder and universal count turns; 0"""
    velocity: float = UNSET
    """m/s or rad/s: the rate that `damping` pulls to; 0"""
    force: float = UNSET
    """N or N m, feed-forward; 0"""
    stiffness: float = UNSET
    """N/m or N m/rad, 0 or more; infinite: a rigid servo; 0"""
    damping: float = UNSET
    """N s/m or N m s/rad, 0 or more; infinite: a rigid motor; 0"""
    limits: Tuple[float, float] = UNSET
    """N or N m, of the sum; contains 0; open"""
    max_speed: float = UNSET
    """m/s or rad/s: the target is approached no faster; infinite"""


@dataclass
class Axis(Value):
    """What acts along one free axis of a joint. Of a ball joint only TN_ANGULAR_A counts: stiffness,
    damping, friction and limits are those of the whole rotation, and the targets and velocities of
    the three angular axes are the parts of a rotation vector and of an angular velocity along a, b,
    c of frame A.
    """

    _ctype = "tn_axis"

    drive: Drive = UNSET
    """off"""
    stiffness: float = UNSET
    """N/m or N m/rad, 0 to 1e12: a passive spring beside the drive; 0"""
    rest: float = UNSET
    """m or rad, where that spring is relaxed; 0"""
    damping: float = UNSET
    """N s/m or N m s/rad, 0 to 1e12: force against the rate; 0"""
    friction: float = UNSET
    """N or N m, 0 or more: dry friction; 0"""
    armature: float = UNSET
    """kg or kg m^2, 0 to 1e9: inertia of the motor's rotor times the square of its gear ratio; not of a ball joint; 0
    """
    inertia: float = UNSET
    """kg or kg m^2, 0 or more: at least so much moves with the axis, where the two bodies are light links of a mechanism; 0: what they have by themselves
    """
    max_effort: float = UNSET
    """N or N m, 0 or more: limit of drive, spring and damping together; infinite"""


@dataclass
class JointState(Value):
    """What a joint does now. Force and torque act on body B, in world axes, at the joint's point on
    B, as the mean over the last step.
    """

    _ctype = "tn_joint_state"

    force: Array = UNSET
    """N"""
    torque: Array = UNSET
    """N m"""
    offset: Array = UNSET
    """from A's point to B's, along a, b, c of frame A, m"""
    length: float = UNSET
    """of the offset, m"""
    elongation: float = UNSET
    """how far outside of its linear ranges, m"""
    angle: Array = UNSET
    """rad, as the angular[] ranges of the kind measure it"""
    swing: float = UNSET
    """rad, between the two a axes"""
    angular_error: float = UNSET
    """how far outside of its angular ranges, rad"""
    position: Array = UNSET
    """m or rad, of each axis; of a distance joint TN_LINEAR_A is the length"""
    rate: Array = UNSET
    """m/s or rad/s, of the positions"""
    drive_force: Array = UNSET
    """N or N m, of the drives, mean over the last step"""
    broken: bool = UNSET
    """it broke, and does nothing until it is enabled again"""


@dataclass
class ReachResult(Value):
    """How close a mechanism came."""

    _ctype = "tn_reach_result"

    ok: bool = UNSET
    """false with a message; nothing was moved"""
    pose: Transform = UNSET
    """of the frame, in the world"""
    distance: float = UNSET
    """from the position of the target, m"""


@dataclass
class JointBreakEvent(Value):
    """A joint that broke in the last step."""

    _ctype = "tn_joint_break_event"

    joint: Optional[Joint] = UNSET
    """which one; it is still there, disabled"""
    force: Array = UNSET
    """N, that broke it"""
    torque: Array = UNSET
    """N m, that broke it"""


@dataclass
class AttachmentState(Value):
    """What an attachment does now."""

    _ctype = "tn_attachment_state"

    force: Array = UNSET
    """N, on the particle, mean over the last step"""
    length: float = UNSET
    """between particle and point, m"""
    broken: bool = UNSET
    """it broke, and does nothing"""


@dataclass
class SoftContact(Value):
    """A particle, or a point of a triangle, and what it touches. The force acts on the soft body, as
    the mean over the last step; the normal leads to it.
    """

    _ctype = "tn_soft_contact"

    particles: Array = UNSET
    """one, or those of a triangle; those not needed are -1"""
    shape: Optional[Shape] = UNSET
    """null: another soft body"""
    body: Optional[Body] = UNSET
    """of the shape; null: the world"""
    other_soft: Optional[Soft] = UNSET
    """null: a shape"""
    other_particle: int = UNSET
    """of the other soft body: the first of a triangle's"""
    normal: Array = UNSET
    """unit"""
    gap: float = UNSET
    """m; negative: penetration"""
    force: Array = UNSET
    """N"""


@dataclass
class SoftEvent(Value):
    """What happened to a soft body in the last step. What does not belong to the kind is null, zero or
    -1.
    """

    _ctype = "tn_soft_event"

    kind: SoftEventKind = UNSET
    """what happened"""
    soft: Optional[Soft] = UNSET
    """to which one"""
    other_soft: Optional[Soft] = UNSET
    """that it touches or parted from"""
    shape: Optional[Shape] = UNSET
    """that it touches or parted from"""
    body: Optional[Body] = UNSET
    """of the shape, or of the attachment; null: the world"""
    attachment: Optional[Attachment] = UNSET
    """that broke"""
    particles: Array = UNSET
    """the first that touched, or the attachment's; a torn one and its first copy"""
    point: Array = UNSET
    """where that is, m"""
    force: Array = UNSET
    """N, on it, as the mean over the step"""


@dataclass
class PrincipalAxes(Value):
    """Principal moments and axes of an inertia."""

    _ctype = "tn_principal_axes"

    moments: Array = UNSET
    """kg m^2, ascending"""
    rotation: Array = UNSET
    """unit quaternion x y z w, from the principal axes to the frame of the mass"""


@dataclass
class HullFace(Value):
    """A face of a convex hull: the plane dot(normal, x) = offset, and its corners."""

    _ctype = "tn_hull_face"

    normal: Array = UNSET
    """unit, outward"""
    offset: float = UNSET
    """m"""
    first: int = UNSET
    """of its corners in the list of tn_hull_indices()"""
    count: int = UNSET
    """of its corners, 3 or more"""


@dataclass
class MoveEvent(Value):
    """A body or a soft body that moved in the last step."""

    _ctype = "tn_move_event"

    body: Optional[Body] = UNSET
    """null: a soft body"""
    soft: Optional[Soft] = UNSET
    """null: a body"""
    pose: Transform = UNSET
    """of the body, as it is now; a soft body has none: the identity"""
    fell_asleep: bool = UNSET
    """at the end of the step; it will not be listed again until it wakes"""


@dataclass
class ArticulationCounts(Value):
    """How many of everything an articulation has."""

    _ctype = "tn_articulation_counts"

    joints: int = UNSET
    """of the trees, free roots included; one for each body"""
    loops: int = UNSET
    """joints that close loops"""
    positions: int = UNSET
    """numbers in a position, q"""
    velocities: int = UNSET
    """degrees of freedom: numbers in a velocity, q'"""


@dataclass
class ArticulationJoint(Value):
    """A joint of the trees, or a free root."""

    _ctype = "tn_articulation_joint"

    joint: Optional[Joint] = UNSET
    """null: a free root"""
    body: Optional[Body] = UNSET
    """that it moves"""
    parent: int = UNSET
    """index of the joint that moves the other body; -1: that does not move"""
    first_position: int = UNSET
    """index of its first number in a position"""
    position_count: int = UNSET
    """0 to 7"""
    first_velocity: int = UNSET
    """index of its first number in a velocity"""
    velocity_count: int = UNSET
    """0 to 6"""


@dataclass
class CouplingAxis(Value):
    """An axis of a joint as part of a coupling: it adds a1 q + a2 q^2 + a3 q^3 + a4 q^4 to c, with q
    the coordinate of body B relative to body A, less `reference`. Angles of hinges, cylinders,
    universal and ball joints (twist) count turns, from the one nearest to zero at creation.
    """

    _ctype = "tn_coupling_axis"

    joint: Optional[Joint] = UNSET
    """which joint"""
    axis: int = UNSET
    """0 to 2: offset along a, b, c (0 of a distance joint: its length); 3 to 5: angle about them. Only axes that the kind of joint leaves free
    """
    reference: float = UNSET
    """m or rad, where q is zero; 0"""
    coefficients: Array = UNSET
    """a1 to a4, finite"""


@dataclass
class CouplingPoint(Value):
    """A point of a coupling's path, or a round solid between two points that the path runs around.
    """

    _ctype = "tn_coupling_point"

    body: Optional[Body] = UNSET
    """null: the world"""
    position: Array = UNSET
    """in the body's frame, or in the world, m; of a solid its centre"""
    factor: float = UNSET
    """Factor of the length of the path from the last point to this one, 0 or more: 1 / divisor
    behind a pulley. 0 begins a new branch here. Not used of the first point and of solids.
    """
    radius: float = UNSET
    """m, 0 to 1e6, of a solid; 0: a point"""
    axis: Array = UNSET
    """of a cylinder, which has no ends, in the body's frame; 0: a sphere"""
    side: Array = UNSET
    """Where the path passes the solid: a direction from its centre, in the body's frame. On the
    other side a taut path goes the long way round. 0: the shorter way, or straight where that is
    free.
    """
    inside: bool = UNSET
    """The path comes to the surface of the solid but does not wind about it, as through a ring; a
    path that crosses the solid is straight. false
    """


@dataclass
class CouplingDrive(Value):
    """What drives a coupling: a force of
    stiffness (target - c) + damping (velocity - dc/dt) + force,
    within limits. With all zero it is off. A jump of the target is spread over a step.
    """

    _ctype = "tn_coupling_drive"

    stiffness: float = UNSET
    """N per unit of c, 0 to 1e12; 0"""
    target: float = UNSET
    """of c; 0"""
    damping: float = UNSET
    """N s per unit of c, 0 to 1e12; with stiffness 0 a motor, the stiffer the larger"""
    velocity: float = UNSET
    """of c per second; 0"""
    force: float = UNSET
    """N, a constant part; 0"""
    limits: Tuple[float, float] = UNSET
    """N, around 0; infinite: no limits, the default"""


@dataclass
class CouplingState(Value):
    """What a coupling does now. Forces are means over the last step, conjugate to c."""

    _ctype = "tn_coupling_state"

    value: float = UNSET
    """c"""
    rate: float = UNSET
    """dc/dt"""
    force: float = UNSET
    """N, of range, spring, drive and friction together; minus the tension"""
    drive_force: float = UNSET
    """N, of the drive alone"""


@dataclass
class ReplayFrame(Value):
    """What a step of a replay has shown."""

    _ctype = "tn_replay_frame"

    index: int = UNSET
    """of the step, from 0"""
    first: int = UNSET
    """byte of the recording at which its calls begin"""
    last: int = UNSET
    """byte after its result"""
    calls: int = UNSET
    """made before the step"""
    status: int = UNSET
    """tn_step_status bits"""
    recorded_status: int = UNSET
    """those of the recording"""
    hash: int = UNSET
    """of the world after the step"""
    recorded_hash: int = UNSET
    """that of the recording; 0: the recording ends within this step"""


@dataclass
class ImportNote(Value):
    """A line of the report."""

    _ctype = "tn_import_note"

    fate: ImportFate = UNSET
    """what became of it"""
    text: str = UNSET
    """what it is; memory of the model"""
    file: str = UNSET
    """where it occurs first; memory of the model"""
    line: int = UNSET
    """in that file, from 1; 0: the file as a whole"""
    count: int = UNSET
    """how often it occurs, 1 or more"""


@dataclass
class ModelBody(Value):
    """A body of a model at a position of its joints."""

    _ctype = "tn_model_body"

    name: str = UNSET
    """empty for none; memory of the model"""
    parent: int = UNSET
    """index of the body it hangs on; -1: it is the world, body 0"""
    position: Array = UNSET
    """in the frame of the model, m"""
    rotation: Array = UNSET
    """unit quaternion x y z w, to the frame of the model"""
    mass: float = UNSET
    """kg"""
    center: Array = UNSET
    """centre of mass in the body's frame, m"""
    inertia: Array = UNSET
    """about the centre, in the body's axes, kg m^2: xx, yy, zz, xy, xz, yz"""


@dataclass
class ModelCounts(Value):
    """How many of everything a model has."""

    _ctype = "tn_model_counts"

    bodies: int = UNSET
    """the world included"""
    joints: int = UNSET
    """with those of several degrees of freedom"""
    positions: int = UNSET
    """numbers in a position of all joints"""
    velocities: int = UNSET
    """degrees of freedom"""
    geoms: int = UNSET
    """solids and surfaces"""
    sites: int = UNSET
    """named frames"""
    meshes: int = UNSET
    """assets"""
    actuators: int = UNSET
    """motors and servos"""
    tendons: int = UNSET
    """fixed and spatial"""
    equalities: int = UNSET
    """closed loops and couplings"""
    sensors: int = UNSET
    """named read-outs"""
    keyframes: int = UNSET
    """named positions"""


@dataclass
class BatchShape(Value):
    """Size of an array of a batch."""

    _ctype = "tn_batch_shape"

    worlds: int = UNSET
    """of the batch"""
    items: int = UNSET
    """of a world"""
    numbers: int = UNSET
    """of an item"""


VALUES: Dict[str, Type[Value]] = {
    "tn_version_info": VersionInfo,
    "tn_limits": Limits,
    "tn_profile": Profile,
    "tn_counters": Counters,
    "tn_mass": Mass,
    "tn_energy": Energy,
    "tn_momentum": Momentum,
    "tn_material": Material,
    "tn_filter": Filter,
    "tn_wire_point": WirePoint,
    "tn_contact_point": ContactPoint,
    "tn_contact": Contact,
    "tn_contact_event": ContactEvent,
    "tn_sleep_event": SleepEvent,
    "tn_hit": Hit,
    "tn_query_filter": QueryFilter,
    "tn_drive": Drive,
    "tn_axis": Axis,
    "tn_joint_state": JointState,
    "tn_reach_result": ReachResult,
    "tn_joint_break_event": JointBreakEvent,
    "tn_attachment_state": AttachmentState,
    "tn_soft_contact": SoftContact,
    "tn_soft_event": SoftEvent,
    "tn_principal_axes": PrincipalAxes,
    "tn_hull_face": HullFace,
    "tn_move_event": MoveEvent,
    "tn_articulation_counts": ArticulationCounts,
    "tn_articulation_joint": ArticulationJoint,
    "tn_coupling_axis": CouplingAxis,
    "tn_coupling_point": CouplingPoint,
    "tn_coupling_drive": CouplingDrive,
    "tn_coupling_state": CouplingState,
    "tn_replay_frame": ReplayFrame,
    "tn_import_note": ImportNote,
    "tn_model_body": ModelBody,
    "tn_model_counts": ModelCounts,
    "tn_batch_shape": BatchShape,
}

ENUMS: Dict[str, Type[enum.IntEnum]] = {
    "tn_log_level": cast(Type[enum.IntEnum], LogLevel),
    "tn_method": cast(Type[enum.IntEnum], Method),
    "tn_quality": cast(Type[enum.IntEnum], Quality),
    "tn_step_status": cast(Type[enum.IntEnum], StepStatus),
    "tn_body_type": cast(Type[enum.IntEnum], BodyType),
    "tn_shape_kind": cast(Type[enum.IntEnum], ShapeKind),
    "tn_combine": cast(Type[enum.IntEnum], Combine),
    "tn_event_kind": cast(Type[enum.IntEnum], EventKind),
    "tn_joint_kind": cast(Type[enum.IntEnum], JointKind),
    "tn_joint_axis": cast(Type[enum.IntEnum], JointAxis),
    "tn_soft_material": cast(Type[enum.IntEnum], SoftMaterial),
    "tn_soft_event_kind": cast(Type[enum.IntEnum], SoftEventKind),
    "tn_number": cast(Type[enum.IntEnum], Number),
    "tn_import_format": cast(Type[enum.IntEnum], ImportFormat),
    "tn_import_fate": cast(Type[enum.IntEnum], ImportFate),
    "tn_import_base": cast(Type[enum.IntEnum], ImportBase),
    "tn_batch_field": cast(Type[enum.IntEnum], BatchField),
}


class ShapeSpecBase(SpecCalls):
    """Arguments that shapes of all kinds take."""


    def _options(
        self,
        *,
        position: Vector = UNSET,
        rotation: Vector = UNSET,
        material: Union[Material, Mapping[str, Any]] = UNSET,
        filter: Union[Filter, Mapping[str, Any]] = UNSET,
        density: float = UNSET,
        sensor: bool = UNSET,
        hit_events: bool = UNSET,
    ) -> None:
        """Keeps the given arguments.

        Omitted arguments have the defaults of the engine.

        position: in the body's frame, m
        rotation: in the body's frame; of a length from 0.9 to 1.1
        material: from the default
        filter: collides with everything by default
        density: kg/m^3, positive, for a body whose mass is that of its shapes; 1,000
        sensor: reports overlaps, pushes nothing, has no mass; false
        hit_events: reports TN_EVENT_HIT; false
        """
        values = {
            "position": position,
            "rotation": rotation,
            "material": material,
            "filter": filter,
            "density": density,
            "sensor": sensor,
            "hit_events": hit_events,
        }
        self._keep(values)


class WorldBase(WorldCalls):
    """Functions of a world."""

    __slots__ = ()

    def __init__(
        self,
        *,
        gravity: Vector = UNSET,
        method: Union[Method, str, int] = UNSET,
        sleeping: bool = UNSET,
        sleep_speed: float = UNSET,
        sleep_time: float = UNSET,
        play: float = UNSET,
        substeps: int = UNSET,
        iterations: int = UNSET,
        threads: int = UNSET,
        lanes: int = UNSET,
        limits: Union[Limits, Mapping[str, Any]] = UNSET,
    ) -> None:
        """Makes an empty world.

        Omitted arguments have the defaults of the engine.

        gravity: m/s^2; (0, -9.81, 0)
        method: how constraints are solved; TENON
        sleeping: bodies at rest may fall asleep; true
        sleep_speed: m/s, see World.sleep_speed; 0: by size and gravity
        sleep_time: s, see World.sleep_time; 0: by size and gravity
        play: of linkages, see World.play, 0 to 0.1; 1e-4
        substeps: the quality knob: substeps in each step, 1 to 10,000; 8
        iterations: passes over the constraints in each substep, 1 to 10,000; 1 is best
        threads: threads of the built-in pool, the caller's included, 1 to 64; 1
        lanes: constraints at a time: 1, 4, 8, 16, or 0 for the most of this machine
        limits: how much it may hold
        """
        values = {
            "gravity": gravity,
            "method": method,
            "sleeping": sleeping,
            "sleep_speed": sleep_speed,
            "sleep_time": sleep_time,
            "play": play,
            "substeps": substeps,
            "iterations": iterations,
            "threads": threads,
            "lanes": lanes,
            "limits": limits,
        }
        self._create(values)

    def add_body(
        self,
        *shapes: ShapeSpecBase,
        type: Union[BodyType, str, int] = UNSET,
        position: Vector = UNSET,
        rotation: Vector = UNSET,
        velocity: Vector = UNSET,
        angular_velocity: Vector = UNSET,
        mass: Union[Mass, Mapping[str, Any]] = UNSET,
        gravity_scale: float = UNSET,
        linear_damping: float = UNSET,
        angular_damping: float = UNSET,
        max_speed: float = UNSET,
        max_angular_speed: float = UNSET,
        can_sleep: bool = UNSET,
        bullet: bool = UNSET,
        name: str = UNSET,
    ) -> Body:
        """Adds a body with any number of shapes.

        Omitted arguments have the defaults of the engine.

        type: DYNAMIC
        position: of the body's origin, m; within TN_MAX_DISTANCE
        rotation: of a length from 0.9 to 1.1; it is normalized
        velocity: of the centre of mass, m/s; a static body ignores it
        angular_velocity: rad/s, world axes; a static body ignores it
        mass: all zero, the default: that of the shapes, see Body.mass
        gravity_scale: multiplies the gravity of the world, -1e6 to 1e6; 1
        linear_damping: 1/s, 0 to 1e6: the velocity decays as exp(-damping t); 0
        angular_damping: 1/s, 0 to 1e6, of the angular velocity; 0
        max_speed: m/s, 0 or more; 1,000
        max_angular_speed: rad/s, 0 or more; 1,000
        can_sleep: may fall asleep at rest; true
        bullet: continuous collision against moving bodies as well; false
        name: copied, cut to 31 bytes; may be null
        """
        values = {
            "type": type,
            "position": position,
            "rotation": rotation,
            "velocity": velocity,
            "angular_velocity": angular_velocity,
            "mass": mass,
            "gravity_scale": gravity_scale,
            "linear_damping": linear_damping,
            "angular_damping": angular_damping,
            "max_speed": max_speed,
            "max_angular_speed": max_angular_speed,
            "can_sleep": can_sleep,
            "bullet": bullet,
            "name": name,
        }
        return self._add_body(shapes, values)

    def add_joint(
        self,
        kind: Union[JointKind, str, int],
        body_a: Optional[Body],
        body_b: Optional[Body] = None,
        *,
        point: Optional[Vector] = None,
        axis: Vector = (1.0, 0.0, 0.0),
        points: Optional[Tuple[Vector, Vector]] = None,
        frame_a: TransformLike = UNSET,
        frame_b: TransformLike = UNSET,
        linear: Sequence[Tuple[float, float]] = UNSET,
        angular: Sequence[Tuple[float, float]] = UNSET,
        swing: float = UNSET,
        compliance: float = UNSET,
        angular_compliance: float = UNSET,
        limit_compliance: float = UNSET,
        angular_limit_compliance: float = UNSET,
        axis_values: Sequence[Union[Axis, Mapping[str, Any]]] = UNSET,
        break_force: float = UNSET,
        break_torque: float = UNSET,
        enabled: bool = UNSET,
        collide: bool = UNSET,
    ) -> Joint:
        """Adds a joint between two bodies, or a body and the world (None).

        Its frames meet at `point` with the axis a along `axis`, as the bodies stand now; or `points`
        gives one for each body, and the axis is from one to the other. Otherwise frame_a and frame_b
        are used.

        Omitted arguments have the defaults of the engine.

        frame_a: in the frame of body A, or in the world
        frame_b: in the frame of body B, or in the world
        linear: m, along a, b, c of frame A; open, or 0 where that is locked
        angular: rad; of a hinge, cylinder or universal up to 1e4, else within a turn
        swing: rad, the cone of a ball joint, 0 or more; infinite: open
        compliance: m/N, 0 to 1e12, of the positions that it holds; 0 is rigid
        angular_compliance: rad/(N m), 0 to 1e12, of the angles that it holds
        limit_compliance: m/N, 0 to 1e12, of the ends of linear ranges
        angular_limit_compliance: rad/(N m), 0 to 1e12, of the ends of angular ranges
        axis_values: drive, spring, damping, friction, armature of each axis
        break_force: N, mean over a step; infinite, the default: never breaks
        break_torque: N m, mean over a step; infinite, the default: never breaks
        enabled: false: does nothing; true
        collide: the two bodies collide with each other; false
        """
        values = {
            "frame_a": frame_a,
            "frame_b": frame_b,
            "linear": linear,
            "angular": angular,
            "swing": swing,
            "compliance": compliance,
            "angular_compliance": angular_compliance,
            "limit_compliance": limit_compliance,
            "angular_limit_compliance": angular_limit_compliance,
            "axis": axis_values,
            "break_force": break_force,
            "break_torque": break_torque,
            "enabled": enabled,
            "collide": collide,
        }
        return self._add_joint(kind, body_a, body_b, (point, axis, points), values)

    def add_soft(
        self,
        mesh: SoftMesh,
        *,
        pinned: Sequence[int] = (),
        position: Vector = UNSET,
        rotation: Vector = UNSET,
        velocity: Vector = UNSET,
        mass: float = UNSET,
        edge_compliance: float = UNSET,
        stretch_limit: float = UNSET,
        tear_strain: float = UNSET,
        tear_force: float = UNSET,
        bending_stiffness: float = UNSET,
        solid: Union[SoftMaterial, str, int] = UNSET,
        youngs_modulus: float = UNSET,
        poisson_ratio: float = UNSET,
        yield_strain: float = UNSET,
        creep: float = UNSET,
        plastic_limit: float = UNSET,
        volume_compliance: float = UNSET,
        pressure: float = UNSET,
        stiffness_damping: float = UNSET,
        damping: float = UNSET,
        linear_damping: float = UNSET,
        gravity_scale: float = UNSET,
        radius: float = UNSET,
        material: Union[Material, Mapping[str, Any]] = UNSET,
        filter: Union[Filter, Mapping[str, Any]] = UNSET,
        curved_rest: bool = UNSET,
        self_collision: bool = UNSET,
        keep_momentum: bool = UNSET,
        can_sleep: bool = UNSET,
    ) -> Soft:
        """Adds a soft body; particles `pinned` stay where they are.

        Omitted arguments have the defaults of the engine.

        position: of the frame of the vertices, m
        rotation: of that frame; of a length from 0.9 to 1.1
        velocity: of all particles, m/s
        mass: kg, shared out by volume, or by area, or by length; 1
        edge_compliance: m/N, 0 or more; 0 is rigid
        stretch_limit: strain that no compliant edge exceeds; infinite: none
        tear_strain: strain beyond which elements tear; infinite: never
        tear_force: N, of an edge, mean over a step; infinite: never
        bending_stiffness: N m: the flexural rigidity of a plate; 0 bends freely
        solid: of tetrahedra; COROTATED
        youngs_modulus: Pa, of tetrahedra, hexahedra and clusters; 1e5
        poisson_ratio: of elastic tetrahedra, 0 to 0.49; 0.3
        yield_strain: beyond it matched elements flow; infinite: elastic
        creep: 1/s, how fast they flow; infinite: at once
        plastic_limit: largest strain that stays; infinite: no limit
        volume_compliance: m^3/Pa, of VOLUME and of a closed surface; 0
        pressure: volume of a closed surface over that at rest, to 1,000; 0: none
        stiffness_damping: s, 0 to 1e6: rows resist their rate of change as a spring would
        damping: 1/s, 0 to 1e6, of all motion but that as a rigid body
        linear_damping: 1/s, 0 to 1e6, of all motion
        gravity_scale: -1e6 to 1e6; 1
        radius: of a particle, m, 0 to 1e6: how far surfaces stay away; 0.005
        material: from the default
        filter: collides with everything by default
        curved_rest: bending pulls to the shape of the definition, not to flat; false
        self_collision: particles of the same body keep two radii apart; false
        keep_momentum: restored after each step where the world solves positions; true
        can_sleep: may fall asleep at rest; true
        """
        values = {
            "position": position,
            "rotation": rotation,
            "velocity": velocity,
            "mass": mass,
            "edge_compliance": edge_compliance,
            "stretch_limit": stretch_limit,
            "tear_strain": tear_strain,
            "tear_force": tear_force,
            "bending_stiffness": bending_stiffness,
            "solid": solid,
            "youngs_modulus": youngs_modulus,
            "poisson_ratio": poisson_ratio,
            "yield_strain": yield_strain,
            "creep": creep,
            "plastic_limit": plastic_limit,
            "volume_compliance": volume_compliance,
            "pressure": pressure,
            "stiffness_damping": stiffness_damping,
            "damping": damping,
            "linear_damping": linear_damping,
            "gravity_scale": gravity_scale,
            "radius": radius,
            "material": material,
            "filter": filter,
            "curved_rest": curved_rest,
            "self_collision": self_collision,
            "keep_momentum": keep_momentum,
            "can_sleep": can_sleep,
        }
        return self._add_soft(mesh, pinned, values)

    def attach(
        self,
        soft: Soft,
        particle: int,
        body: Optional[Body] = None,
        *,
        point: Vector = UNSET,
        compliance: float = UNSET,
        break_force: float = UNSET,
    ) -> Attachment:
        """Ties a particle to a point of a body or of the world (None).

        Without `point` it is where the particle is now.

        Omitted arguments have the defaults of the engine.

        point: in the body's frame, or in the world, m
        compliance: m/N, 0 to 1e12; 0 is rigid
        break_force: N, mean over a step; infinite, the default: never breaks
        """
        values = {
            "point": point,
            "compliance": compliance,
            "break_force": break_force,
        }
        return self._attach(soft, particle, body, values)

    def add_coupling(
        self,
        *,
        axes: Sequence[Union[CouplingAxis, Mapping[str, Any]]] = UNSET,
        points: Sequence[Union[CouplingPoint, Mapping[str, Any]]] = UNSET,
        offset: float = UNSET,
        range: Tuple[float, float] = UNSET,
        compliance: float = UNSET,
        range_damping: float = UNSET,
        stiffness: float = UNSET,
        rest: float = UNSET,
        damping: float = UNSET,
        friction: float = UNSET,
        drive: Union[CouplingDrive, Mapping[str, Any]] = UNSET,
        enabled: bool = UNSET,
    ) -> Coupling:
        """Adds a coupling. Its bodies wake up; from now on they fall asleep together.

It acts while all of its joints are enabled and not broken. Destroying one of its joints or
bodies destroys the coupling, which is logged as a warning.

        Omitted arguments have the defaults of the engine.

        axes: the first axis_count are in use
        points: the path: the first point_count are in use
        offset: constant part of c; 0
        range: Of c; 0 to 0. Equal ends are a gear or a rigid rod; an upper end alone is a rope; open ends in between are backlash.
        compliance: units of c per N, 0 to 1e12, of the range's ends; 0 is rigid
        range_damping: N s per unit of c, 0 to 1e12, of compliant ends; 0
        stiffness: N per unit of c, 0 to 1e12, of a spring; 0
        rest: c at which the spring is at rest; 0
        damping: N s per unit of c, 0 to 1e12, of motion of c; 0
        friction: N, 0 or more, against motion of c; 0
        drive: off
        enabled: acts; true
        """
        values = {
            "axes": axes,
            "points": points,
            "offset": offset,
            "range": range,
            "compliance": compliance,
            "range_damping": range_damping,
            "stiffness": stiffness,
            "rest": rest,
            "damping": damping,
            "friction": friction,
            "drive": drive,
            "enabled": enabled,
        }
        return self._add("tn_coupling", values)

    @property
    def couplings(self) -> List[Coupling]:
        """Lists the couplings of a world in slot order."""
        return self._list(lib.tn_world_couplings, "tn_coupling_id")

    @property
    def play(self) -> float:
        """The play of linkages, as it was set."""
        return self._get(lib.tn_world_play)

    @play.setter
    def play(self, value: float) -> None:
        self._set(lib.tn_world_set_play, "float", "play", value)

    @property
    def gravity(self) -> Array:
        """Gravity, m/s^2."""
        return self._get(lib.tn_world_gravity)

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._set(lib.tn_world_set_gravity, "tn_vec3", "gravity", value)

    @property
    def method(self) -> Method:
        """How constraints are solved."""
        return self._get(lib.tn_world_method)

    @method.setter
    def method(self, value: Any) -> None:
        self._set(lib.tn_world_set_method, "tn_method", "method", value)

    @property
    def substeps(self) -> int:
        """Substeps in each step."""
        return self._get(lib.tn_world_substeps)

    @substeps.setter
    def substeps(self, value: int) -> None:
        self._set(lib.tn_world_set_substeps, "int", "substeps", value)

    @property
    def iterations(self) -> int:
        """Passes over the constraints in each substep."""
        return self._get(lib.tn_world_iterations)

    @iterations.setter
    def iterations(self, value: int) -> None:
        self._set(lib.tn_world_set_iterations, "int", "iterations", value)

    @property
    def lanes(self) -> int:
        """Constraints that are solved at a time: 1, 4, 8 or 16. Results do not depend on it."""
        return self._get(lib.tn_world_lanes)

    @property
    def counters(self) -> Counters:
        """How much of everything there is, and the memory in use."""
        return self._get(lib.tn_world_counters)

    @property
    def bodies(self) -> List[Body]:
        """Lists the bodies of a world in slot order."""
        return self._list(lib.tn_world_bodies, "tn_body_id")

    @property
    def joints(self) -> List[Joint]:
        """Lists the joints of a world in slot order."""
        return self._list(lib.tn_world_joints, "tn_joint_id")

    @property
    def contacts(self) -> Array:
        """Lists contacts that touch or nearly, with the forces of the last step."""
        return self._list(lib.tn_world_contacts, "tn_contact")

    @property
    def sleeping(self) -> bool:
        """Whether bodies at rest may fall asleep."""
        return self._get(lib.tn_world_sleeping)

    @sleeping.setter
    def sleeping(self, value: bool) -> None:
        self._set(lib.tn_world_set_sleeping, "bool", "sleeping", value)

    @property
    def sleep_speed(self) -> float:
        """The speed below which bodies count as still, as it was set, m/s."""
        return self._get(lib.tn_world_sleep_speed)

    @sleep_speed.setter
    def sleep_speed(self, value: float) -> None:
        self._set(lib.tn_world_set_sleep_speed, "float", "sleep_speed", value)

    @property
    def sleep_time(self) -> float:
        """The time at rest before an island falls asleep, as it was set, s."""
        return self._get(lib.tn_world_sleep_time)

    @sleep_time.setter
    def sleep_time(self, value: float) -> None:
        self._set(lib.tn_world_set_sleep_time, "float", "sleep_time", value)

    @property
    def energy(self) -> Energy:
        """Energy of all dynamic bodies, soft bodies and springs, J."""
        return self._get(lib.tn_world_energy)

    @property
    def softs(self) -> List[Soft]:
        """Lists the soft bodies of a world in slot order."""
        return self._list(lib.tn_world_softs, "tn_soft_id")

    @property
    def attachments(self) -> List[Attachment]:
        """Lists the attachments of a world in slot order."""
        return self._list(lib.tn_world_attachments, "tn_attachment_id")

    @property
    def shapes(self) -> List[Shape]:
        """Lists all shapes of a world, those of the world itself included, in slot order."""
        return self._list(lib.tn_world_shapes, "tn_shape_id")

    def record_calls(self, path: str) -> None:
        """Starts a recording of a world, from its present state on, or ends it.

        The file is complete up to the last step, also after a crash. World.destroy ends the
        recording.

        path: of the file, which is overwritten; null ends the recording
        """
        self._do(lib.tn_world_record_calls, ("char", "path", path))

    def momentum(self, about: Vector) -> Momentum:
        """Momentum of all dynamic bodies and soft bodies.

        about: point that the angular momentum is taken about, m
        """
        return cast('Momentum', self._call(lib.tn_world_momentum, ("tn_pos", "about", about)))

    def update_contacts(self) -> None:
        """Finds the contacts of bodies as they stand, without a step.

        For worlds whose bodies were moved by calls: World.contacts then tells what touches now,
        with the forces of the last step. No time passes and no pose or velocity changes. Bodies that an
        awake body touches wake up; events are published with the next step. Contacts of soft bodies
        stay those of the last step.
        """
        self._do(lib.tn_world_update_contacts)


class BodyBase(Handle):
    """A rigid body."""

    _prefix = "tn_body"
    __slots__ = ()

    @property
    def contacts(self) -> Array:
        """Lists the contacts of a body."""
        return self._list(lib.tn_body_contacts, "tn_contact")

    @property
    def type(self) -> BodyType:
        """Type of a body."""
        return self._get(lib.tn_body_get_type)

    @type.setter
    def type(self, value: Any) -> None:
        self._set(lib.tn_body_set_type, "tn_body_type", "type", value)

    @property
    def transform(self) -> Transform:
        """Pose of a body's frame."""
        return self._get(lib.tn_body_transform)

    @transform.setter
    def transform(self, value: Any) -> None:
        self._set(lib.tn_body_set_transform, "tn_transform", "transform", value)

    @property
    def position(self) -> Array:
        """Where a body's origin is, m."""
        return self._get(lib.tn_body_position)

    @property
    def rotation(self) -> Array:
        """Rotation from a body's frame to the world; the identity for a bad id."""
        return self._get(lib.tn_body_rotation)

    @property
    def center(self) -> Array:
        """Where a body's centre of mass is, m."""
        return self._get(lib.tn_body_center)

    @property
    def velocity(self) -> Array:
        """Velocity of a body's centre of mass, m/s."""
        return self._get(lib.tn_body_velocity)

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self._set(lib.tn_body_set_velocity, "tn_vec3", "velocity", value)

    @property
    def angular_velocity(self) -> Array:
        """Angular velocity of a body, rad/s, world axes."""
        return self._get(lib.tn_body_angular_velocity)

    @angular_velocity.setter
    def angular_velocity(self, value: Any) -> None:
        self._set(lib.tn_body_set_angular_velocity, "tn_vec3", "angular_velocity", value)

    @property
    def mass(self) -> Mass:
        """Mass of a body.

        A dynamic body whose definition gives no mass has that of its shapes, by their densities and
        places; it is updated as shapes are created, changed and destroyed, until Body.mass.
        Sensors, planes, meshes, height fields and wires add no mass. Without a solid shape, or if the
        sum is out of range (with a warning), it is that of a cube of 1 m and 1 kg.
        """
        return self._get(lib.tn_body_mass)

    @mass.setter
    def mass(self, value: Any) -> None:
        self._set(lib.tn_body_set_mass, "tn_mass", "mass", value, lib.tn_body_mass)

    @property
    def gravity_scale(self) -> float:
        """The factor of gravity."""
        return self._get(lib.tn_body_gravity_scale)

    @gravity_scale.setter
    def gravity_scale(self, value: float) -> None:
        self._set(lib.tn_body_set_gravity_scale, "float", "gravity_scale", value)

    @property
    def linear_damping(self) -> float:
        """Damping of the velocity, 1/s."""
        return self._get(lib.tn_body_linear_damping)

    @linear_damping.setter
    def linear_damping(self, value: float) -> None:
        self._set(lib.tn_body_set_linear_damping, "float", "linear_damping", value)

    @property
    def angular_damping(self) -> float:
        """Damping of the angular velocity, 1/s."""
        return self._get(lib.tn_body_angular_damping)

    @angular_damping.setter
    def angular_damping(self, value: float) -> None:
        self._set(lib.tn_body_set_angular_damping, "float", "angular_damping", value)

    @property
    def max_speed(self) -> float:
        """The speed limit, m/s."""
        return self._get(lib.tn_body_max_speed)

    @max_speed.setter
    def max_speed(self, value: float) -> None:
        self._set(lib.tn_body_set_max_speed, "float", "max_speed", value)

    @property
    def max_angular_speed(self) -> float:
        """The limit of the angular speed, rad/s."""
        return self._get(lib.tn_body_max_angular_speed)

    @max_angular_speed.setter
    def max_angular_speed(self, value: float) -> None:
        self._set(lib.tn_body_set_max_angular_speed, "float", "max_angular_speed", value)

    @property
    def joints(self) -> List[Joint]:
        """Lists the joints of a body."""
        return self._list(lib.tn_body_joints, "tn_joint_id")

    @property
    def awake(self) -> bool:
        """Whether a body is awake. A sleeping body does not move until something touches it or its
        velocity, pose, forces, shapes or joints are changed.
        """
        return self._get(lib.tn_body_is_awake)

    @awake.setter
    def awake(self, value: bool) -> None:
        self._set(lib.tn_body_set_awake, "bool", "awake", value)

    @property
    def can_sleep(self) -> bool:
        """Whether a body may fall asleep."""
        return self._get(lib.tn_body_can_sleep)

    @can_sleep.setter
    def can_sleep(self, value: bool) -> None:
        self._set(lib.tn_body_set_can_sleep, "bool", "can_sleep", value)

    @property
    def mass_from_shapes(self) -> bool:
        """Whether the mass of a body follows its shapes."""
        return self._get(lib.tn_body_mass_from_shapes)

    @property
    def shapes(self) -> List[Shape]:
        """Lists the shapes of a body, those of the world for a null id, in the order in which they were
        made.
        """
        return self._list(lib.tn_body_shapes, "tn_shape_id")

    def point_velocity(self, point: Vector) -> Array:
        """Velocity of the body's point that is at `point` of the world, m/s."""
        return cast('Array', self._call(lib.tn_body_point_velocity, ("tn_pos", "point", point)))

    def move_to(self, target: TransformLike) -> None:
        """Moves a kinematic body so that the next step ends at `target`; afterwards it stands."""
        self._do(lib.tn_body_move_to, ("tn_transform", "target", target))

    def apply_force(self, force: Vector, point: Vector) -> None:
        """Adds a force during the next step, N, at a point of the world, to a dynamic body. It wakes up.
        """
        self._do(lib.tn_body_apply_force, ("tn_vec3", "force", force), ("tn_pos", "point", point))

    def apply_force_to_center(self, force: Vector) -> None:
        """Adds a force during the next step, N, through the centre of mass of a dynamic body. It wakes up.
        """
        self._do(lib.tn_body_apply_force_to_center, ("tn_vec3", "force", force))

    def apply_torque(self, torque: Vector) -> None:
        """Adds a torque during the next step, N m, to a dynamic body. It wakes up."""
        self._do(lib.tn_body_apply_torque, ("tn_vec3", "torque", torque))

    def apply_impulse(self, impulse: Vector, point: Vector) -> None:
        """Applies an impulse at once, N s, at a point of the world, to a dynamic body. It wakes up."""
        self._do(lib.tn_body_apply_impulse, ("tn_vec3", "impulse", impulse), ("tn_pos", "point", point))

    def apply_angular_impulse(self, impulse: Vector) -> None:
        """Applies an angular impulse at once, N m s, to a dynamic body. It wakes up."""
        self._do(lib.tn_body_apply_angular_impulse, ("tn_vec3", "impulse", impulse))

    def set_mass_from_shapes(self) -> None:
        """Gives a body the mass of its shapes, and lets it follow them: see Body.mass. False if it
        has no solid shape, or the sum is out of range.
        """
        self._do(lib.tn_body_set_mass_from_shapes)

    def world_point(self, local: Vector) -> Array:
        """Converts a point of a body's frame to the world.

        local: m, in the body's frame, within TN_MAX_DISTANCE of its origin
        """
        return cast('Array', self._call(lib.tn_body_world_point, ("tn_vec3", "local", local)))

    def local_point(self, point: Vector) -> Array:
        """Converts a point of the world to a body's frame.

        The difference to the body is taken in double: the result is as precise anywhere in the world.

        point: m, within TN_MAX_DISTANCE
        """
        return cast('Array', self._call(lib.tn_body_local_point, ("tn_pos", "point", point)))

    def world_vector(self, local: Vector) -> Array:
        """Turns a vector of a body's frame to world axes; its length stays.

        local: of any unit, finite
        """
        return cast('Array', self._call(lib.tn_body_world_vector, ("tn_vec3", "local", local)))

    def local_vector(self, vector: Vector) -> Array:
        """Turns a vector in world axes to a body's frame; its length stays.

        vector: of any unit, finite
        """
        return cast('Array', self._call(lib.tn_body_local_vector, ("tn_vec3", "vector", vector)))

    @property
    def bullet(self) -> bool:
        """continuous collision against moving bodies as well; false"""
        return cast('bool', self._field("bullet"))

    @bullet.setter
    def bullet(self, value: Any) -> None:
        self._configure({"bullet": value})

    @property
    def name(self) -> str:
        """copied, cut to 31 bytes; may be null"""
        return cast('str', self._field("name"))

    @name.setter
    def name(self, value: Any) -> None:
        self._configure({"name": value})

    def configure(
        self,
        *,
        type: Union[BodyType, str, int] = UNSET,
        position: Vector = UNSET,
        rotation: Vector = UNSET,
        velocity: Vector = UNSET,
        angular_velocity: Vector = UNSET,
        mass: Union[Mass, Mapping[str, Any]] = UNSET,
        gravity_scale: float = UNSET,
        linear_damping: float = UNSET,
        angular_damping: float = UNSET,
        max_speed: float = UNSET,
        max_angular_speed: float = UNSET,
        can_sleep: bool = UNSET,
        bullet: bool = UNSET,
        name: str = UNSET,
    ) -> None:
        """Changes several settings at once, or none of them.

        Omitted arguments have the defaults of the engine.

        type: DYNAMIC
        position: of the body's origin, m; within TN_MAX_DISTANCE
        rotation: of a length from 0.9 to 1.1; it is normalized
        velocity: of the centre of mass, m/s; a static body ignores it
        angular_velocity: rad/s, world axes; a static body ignores it
        mass: all zero, the default: that of the shapes, see Body.mass
        gravity_scale: multiplies the gravity of the world, -1e6 to 1e6; 1
        linear_damping: 1/s, 0 to 1e6: the velocity decays as exp(-damping t); 0
        angular_damping: 1/s, 0 to 1e6, of the angular velocity; 0
        max_speed: m/s, 0 or more; 1,000
        max_angular_speed: rad/s, 0 or more; 1,000
        can_sleep: may fall asleep at rest; true
        bullet: continuous collision against moving bodies as well; false
        name: copied, cut to 31 bytes; may be null
        """
        values = {
            "type": type,
            "position": position,
            "rotation": rotation,
            "velocity": velocity,
            "angular_velocity": angular_velocity,
            "mass": mass,
            "gravity_scale": gravity_scale,
            "linear_damping": linear_damping,
            "angular_damping": angular_damping,
            "max_speed": max_speed,
            "max_angular_speed": max_angular_speed,
            "can_sleep": can_sleep,
            "bullet": bullet,
            "name": name,
        }
        self._configure(values)


class JointBase(Handle):
    """A joint between two bodies."""

    _prefix = "tn_joint"
    __slots__ = ()

    @property
    def enabled(self) -> bool:
        """Whether a joint is switched on."""
        return self._get(lib.tn_joint_is_enabled)

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._set(lib.tn_joint_set_enabled, "bool", "enabled", value)

    @property
    def anchor(self) -> Array:
        """Where the end is that is fixed to the world, m; zero, with a message, if there is none."""
        return self._get(lib.tn_joint_anchor)

    @anchor.setter
    def anchor(self, value: Any) -> None:
        self._set(lib.tn_joint_set_anchor, "tn_pos", "anchor", value)

    @property
    def state(self) -> JointState:
        """What a joint does now: force, torque, offset, angles, and each axis."""
        return self._get(lib.tn_joint_get_state)

    def set_drive(self, axis: Union[JointAxis, str, int], drive: Union[Drive, Mapping[str, Any]]) -> None:
        """Sets the drive of an axis. False, with nothing changed, if the kind has no such axis or the
        drive is invalid. A changed target moves there over the next step. The bodies wake up.
        """
        self._do(lib.tn_joint_set_drive, ("tn_joint_axis", "axis", axis), ("tn_drive", "drive", drive), old=lib.tn_joint_drive)

    def drive(self, axis: Union[JointAxis, str, int]) -> Drive:
        """The drive of an axis."""
        return cast('Drive', self._call(lib.tn_joint_drive, ("tn_joint_axis", "axis", axis)))

    def set_angle(self, axis: Union[JointAxis, str, int], angle: float) -> None:
        """Counts the turns of an angle anew: of all angles that its pose allows, the one nearest to
        `angle` is taken from now on. Nothing moves. False if the axis counts no turns.
        """
        self._do(lib.tn_joint_set_angle, ("tn_joint_axis", "axis", axis), ("float", "angle", angle), old=lib.tn_joint_angle)

    def angle(self, axis: Union[JointAxis, str, int]) -> float:
        """The angle of an axis of a hinge, cylinder or universal joint with its turns, rad; 0 with a
        message if the axis counts none.
        """
        return cast('float', self._call(lib.tn_joint_angle, ("tn_joint_axis", "axis", axis)))

    @property
    def kind(self) -> JointKind:
        """what it leaves free"""
        return cast('JointKind', self._field("kind"))

    @kind.setter
    def kind(self, value: Any) -> None:
        self._configure({"kind": value})

    @property
    def body_a(self) -> Optional[Body]:
        """null: the world"""
        return cast('Optional[Body]', self._field("body_a"))

    @property
    def body_b(self) -> Optional[Body]:
        """null: the world; not both"""
        return cast('Optional[Body]', self._field("body_b"))

    @property
    def frame_a(self) -> Transform:
        """in the frame of body A, or in the world"""
        return cast('Transform', self._field("frame_a"))

    @frame_a.setter
    def frame_a(self, value: Any) -> None:
        self._configure({"frame_a": value})

    @property
    def frame_b(self) -> Transform:
        """in the frame of body B, or in the world"""
        return cast('Transform', self._field("frame_b"))

    @frame_b.setter
    def frame_b(self, value: Any) -> None:
        self._configure({"frame_b": value})

    @property
    def linear(self) -> Array:
        """m, along a, b, c of frame A; open, or 0 where that is locked"""
        return cast('Array', self._field("linear"))

    @linear.setter
    def linear(self, value: Any) -> None:
        self._configure({"linear": value})

    @property
    def angular(self) -> Array:
        """rad; of a hinge, cylinder or universal up to 1e4, else within a turn"""
        return cast('Array', self._field("angular"))

    @angular.setter
    def angular(self, value: Any) -> None:
        self._configure({"angular": value})

    @property
    def swing(self) -> float:
        """rad, the cone of a ball joint, 0 or more; infinite: open"""
        return cast('float', self._field("swing"))

    @swing.setter
    def swing(self, value: Any) -> None:
        self._configure({"swing": value})

    @property
    def compliance(self) -> float:
        """m/N, 0 to 1e12, of the positions that it holds; 0 is rigid"""
        return cast('float', self._field("compliance"))

    @compliance.setter
    def compliance(self, value: Any) -> None:
        self._configure({"compliance": value})

    @property
    def angular_compliance(self) -> float:
        """rad/(N m), 0 to 1e12, of the angles that it holds"""
        return cast('float', self._field("angular_compliance"))

    @angular_compliance.setter
    def angular_compliance(self, value: Any) -> None:
        self._configure({"angular_compliance": value})

    @property
    def limit_compliance(self) -> float:
        """m/N, 0 to 1e12, of the ends of linear ranges"""
        return cast('float', self._field("limit_compliance"))

    @limit_compliance.setter
    def limit_compliance(self, value: Any) -> None:
        self._configure({"limit_compliance": value})

    @property
    def angular_limit_compliance(self) -> float:
        """rad/(N m), 0 to 1e12, of the ends of angular ranges"""
        return cast('float', self._field("angular_limit_compliance"))

    @angular_limit_compliance.setter
    def angular_limit_compliance(self, value: Any) -> None:
        self._configure({"angular_limit_compliance": value})

    @property
    def axis(self) -> Array:
        """drive, spring, damping, friction, armature of each axis"""
        return cast('Array', self._field("axis"))

    @axis.setter
    def axis(self, value: Any) -> None:
        self._configure({"axis": value})

    @property
    def break_force(self) -> float:
        """N, mean over a step; infinite, the default: never breaks"""
        return cast('float', self._field("break_force"))

    @break_force.setter
    def break_force(self, value: Any) -> None:
        self._configure({"break_force": value})

    @property
    def break_torque(self) -> float:
        """N m, mean over a step; infinite, the default: never breaks"""
        return cast('float', self._field("break_torque"))

    @break_torque.setter
    def break_torque(self, value: Any) -> None:
        self._configure({"break_torque": value})

    @property
    def collide(self) -> bool:
        """the two bodies collide with each other; false"""
        return cast('bool', self._field("collide"))

    @collide.setter
    def collide(self, value: Any) -> None:
        self._configure({"collide": value})

    def configure(
        self,
        *,
        kind: Union[JointKind, str, int] = UNSET,
        body_a: Optional[Body] = UNSET,
        body_b: Optional[Body] = UNSET,
        frame_a: TransformLike = UNSET,
        frame_b: TransformLike = UNSET,
        linear: Sequence[Tuple[float, float]] = UNSET,
        angular: Sequence[Tuple[float, float]] = UNSET,
        swing: float = UNSET,
        compliance: float = UNSET,
        angular_compliance: float = UNSET,
        limit_compliance: float = UNSET,
        angular_limit_compliance: float = UNSET,
        axis: Sequence[Union[Axis, Mapping[str, Any]]] = UNSET,
        break_force: float = UNSET,
        break_torque: float = UNSET,
        enabled: bool = UNSET,
        collide: bool = UNSET,
    ) -> None:
        """Changes several settings at once, or none of them.

        Omitted arguments have the defaults of the engine.

        kind: what it leaves free
        body_a: null: the world
        body_b: null: the world; not both
        frame_a: in the frame of body A, or in the world
        frame_b: in the frame of body B, or in the world
        linear: m, along a, b, c of frame A; open, or 0 where that is locked
        angular: rad; of a hinge, cylinder or universal up to 1e4, else within a turn
        swing: rad, the cone of a ball joint, 0 or more; infinite: open
        compliance: m/N, 0 to 1e12, of the positions that it holds; 0 is rigid
        angular_compliance: rad/(N m), 0 to 1e12, of the angles that it holds
        limit_compliance: m/N, 0 to 1e12, of the ends of linear ranges
        angular_limit_compliance: rad/(N m), 0 to 1e12, of the ends of angular ranges
        axis: drive, spring, damping, friction, armature of each axis
        break_force: N, mean over a step; infinite, the default: never breaks
        break_torque: N m, mean over a step; infinite, the default: never breaks
        enabled: false: does nothing; true
        collide: the two bodies collide with each other; false
        """
        values = {
            "kind": kind,
            "body_a": body_a,
            "body_b": body_b,
            "frame_a": frame_a,
            "frame_b": frame_b,
            "linear": linear,
            "angular": angular,
            "swing": swing,
            "compliance": compliance,
            "angular_compliance": angular_compliance,
            "limit_compliance": limit_compliance,
            "angular_limit_compliance": angular_limit_compliance,
            "axis": axis,
            "break_force": break_force,
            "break_torque": break_torque,
            "enabled": enabled,
            "collide": collide,
        }
        self._configure(values)


class Coupling(Handle):
    """A coupling of joint axes, or a path through points of bodies."""

    _prefix = "tn_coupling"
    _ctype = "tn_coupling_id"
    __slots__ = ()

    @property
    def drive(self) -> CouplingDrive:
        """Drive of a coupling."""
        return self._get(lib.tn_coupling_get_drive)

    @drive.setter
    def drive(self, value: Any) -> None:
        self._set(lib.tn_coupling_set_drive, "tn_coupling_drive", "drive", value, lib.tn_coupling_get_drive)

    @property
    def enabled(self) -> bool:
        """Whether a coupling is switched on."""
        return self._get(lib.tn_coupling_is_enabled)

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._set(lib.tn_coupling_set_enabled, "bool", "enabled", value)

    @property
    def state(self) -> CouplingState:
        """What a coupling does now: c, its rate, forces."""
        return self._get(lib.tn_coupling_get_state)

    @property
    def axes(self) -> Array:
        """the first axis_count are in use"""
        return cast('Array', self._field("axes"))

    @axes.setter
    def axes(self, value: Any) -> None:
        self._configure({"axes": value})

    @property
    def points(self) -> Array:
        """the path: the first point_count are in use"""
        return cast('Array', self._field("points"))

    @points.setter
    def points(self, value: Any) -> None:
        self._configure({"points": value})

    @property
    def offset(self) -> float:
        """constant part of c; 0"""
        return cast('float', self._field("offset"))

    @offset.setter
    def offset(self, value: Any) -> None:
        self._configure({"offset": value})

    @property
    def range(self) -> Tuple[float, float]:
        """Of c; 0 to 0. Equal ends are a gear or a rigid rod; an upper end alone is a rope; open ends
        in between are backlash.
        """
        return cast('Tuple[float, float]', self._field("range"))

    @range.setter
    def range(self, value: Any) -> None:
        self._configure({"range": value})

    @property
    def compliance(self) -> float:
        """units of c per N, 0 to 1e12, of the range's ends; 0 is rigid"""
        return cast('float', self._field("compliance"))

    @compliance.setter
    def compliance(self, value: Any) -> None:
        self._configure({"compliance": value})

    @property
    def range_damping(self) -> float:
        """N s per unit of c, 0 to 1e12, of compliant ends; 0"""
        return cast('float', self._field("range_damping"))

    @range_damping.setter
    def range_damping(self, value: Any) -> None:
        self._configure({"range_damping": value})

    @property
    def stiffness(self) -> float:
        """N per unit of c, 0 to 1e12, of a spring; 0"""
        return cast('float', self._field("stiffness"))

    @stiffness.setter
    def stiffness(self, value: Any) -> None:
        self._configure({"stiffness": value})

    @property
    def rest(self) -> float:
        """c at which the spring is at rest; 0"""
        return cast('float', self._field("rest"))

    @rest.setter
    def rest(self, value: Any) -> None:
        self._configure({"rest": value})

    @property
    def damping(self) -> float:
        """N s per unit of c, 0 to 1e12, of motion of c; 0"""
        return cast('float', self._field("damping"))

    @damping.setter
    def damping(self, value: Any) -> None:
        self._configure({"damping": value})

    @property
    def friction(self) -> float:
        """N, 0 or more, against motion of c; 0"""
        return cast('float', self._field("friction"))

    @friction.setter
    def friction(self, value: Any) -> None:
        self._configure({"friction": value})

    def configure(
        self,
        *,
        axes: Sequence[Union[CouplingAxis, Mapping[str, Any]]] = UNSET,
        points: Sequence[Union[CouplingPoint, Mapping[str, Any]]] = UNSET,
        offset: float = UNSET,
        range: Tuple[float, float] = UNSET,
        compliance: float = UNSET,
        range_damping: float = UNSET,
        stiffness: float = UNSET,
        rest: float = UNSET,
        damping: float = UNSET,
        friction: float = UNSET,
        drive: Union[CouplingDrive, Mapping[str, Any]] = UNSET,
        enabled: bool = UNSET,
    ) -> None:
        """Changes several settings at once, or none of them.

        Omitted arguments have the defaults of the engine.

        axes: the first axis_count are in use
        points: the path: the first point_count are in use
        offset: constant part of c; 0
        range: Of c; 0 to 0. Equal ends are a gear or a rigid rod; an upper end alone is a rope; open ends in between are backlash.
        compliance: units of c per N, 0 to 1e12, of the range's ends; 0 is rigid
        range_damping: N s per unit of c, 0 to 1e12, of compliant ends; 0
        stiffness: N per unit of c, 0 to 1e12, of a spring; 0
        rest: c at which the spring is at rest; 0
        damping: N s per unit of c, 0 to 1e12, of motion of c; 0
        friction: N, 0 or more, against motion of c; 0
        drive: off
        enabled: acts; true
        """
        values = {
            "axes": axes,
            "points": points,
            "offset": offset,
            "range": range,
            "compliance": compliance,
            "range_damping": range_damping,
            "stiffness": stiffness,
            "rest": rest,
            "damping": damping,
            "friction": friction,
            "drive": drive,
            "enabled": enabled,
        }
        self._configure(values)


class ShapeBase(Handle):
    """A shape of a body or of the world."""

    _prefix = "tn_shape"
    __slots__ = ()

    @property
    def body(self) -> Optional[Body]:
        """Body of a shape; null is the world, or a bad id."""
        return self._get(lib.tn_shape_body)

    @property
    def material(self) -> Material:
        """Material of a shape."""
        return self._get(lib.tn_shape_material)

    @material.setter
    def material(self, value: Any) -> None:
        self._set(lib.tn_shape_set_material, "tn_material", "material", value, lib.tn_shape_material)

    @property
    def filter(self) -> Filter:
        """Filter of a shape."""
        return self._get(lib.tn_shape_filter)

    @filter.setter
    def filter(self, value: Any) -> None:
        self._set(lib.tn_shape_set_filter, "tn_filter", "filter", value, lib.tn_shape_filter)

    @property
    def kind(self) -> ShapeKind:
        """what it is; decides which sizes count"""
        return cast('ShapeKind', self._field("kind"))

    @kind.setter
    def kind(self, value: Any) -> None:
        self._configure({"kind": value})

    @property
    def position(self) -> Array:
        """in the body's frame, m"""
        return cast('Array', self._field("position"))

    @position.setter
    def position(self, value: Any) -> None:
        self._configure({"position": value})

    @property
    def rotation(self) -> Array:
        """in the body's frame; of a length from 0.9 to 1.1"""
        return cast('Array', self._field("rotation"))

    @rotation.setter
    def rotation(self, value: Any) -> None:
        self._configure({"rotation": value})

    @property
    def radius(self) -> float:
        """m; 0.5"""
        return cast('float', self._field("radius"))

    @radius.setter
    def radius(self, value: Any) -> None:
        self._configure({"radius": value})

    @property
    def half_length(self) -> float:
        """m, along y; 0.5"""
        return cast('float', self._field("half_length"))

    @half_length.setter
    def half_length(self, value: Any) -> None:
        self._configure({"half_length": value})

    @property
    def half_extents(self) -> Array:
        """m, of a box; 0.5 each"""
        return cast('Array', self._field("half_extents"))

    @half_extents.setter
    def half_extents(self, value: Any) -> None:
        self._configure({"half_extents": value})

    @property
    def geometry(self) -> Optional[Geometry]:
        """of a hull, mesh, height field or wire"""
        return cast('Optional[Geometry]', self._field("geometry"))

    @property
    def density(self) -> float:
        """kg/m^3, positive, for a body whose mass is that of its shapes; 1,000"""
        return cast('float', self._field("density"))

    @density.setter
    def density(self, value: Any) -> None:
        self._configure({"density": value})

    @property
    def sensor(self) -> bool:
        """reports overlaps, pushes nothing, has no mass; false"""
        return cast('bool', self._field("sensor"))

    @sensor.setter
    def sensor(self, value: Any) -> None:
        self._configure({"sensor": value})

    @property
    def hit_events(self) -> bool:
        """reports TN_EVENT_HIT; false"""
        return cast('bool', self._field("hit_events"))

    @hit_events.setter
    def hit_events(self, value: Any) -> None:
        self._configure({"hit_events": value})

    def configure(
        self,
        *,
        kind: Union[ShapeKind, str, int] = UNSET,
        position: Vector = UNSET,
        rotation: Vector = UNSET,
        radius: float = UNSET,
        half_length: float = UNSET,
        half_extents: Vector = UNSET,
        geometry: Optional[Geometry] = UNSET,
        material: Union[Material, Mapping[str, Any]] = UNSET,
        filter: Union[Filter, Mapping[str, Any]] = UNSET,
        density: float = UNSET,
        sensor: bool = UNSET,
        hit_events: bool = UNSET,
    ) -> None:
        """Changes several settings at once, or none of them.

        Omitted arguments have the defaults of the engine.

        kind: what it is; decides which sizes count
        position: in the body's frame, m
        rotation: in the body's frame; of a length from 0.9 to 1.1
        radius: m; 0.5
        half_length: m, along y; 0.5
        half_extents: m, of a box; 0.5 each
        geometry: of a hull, mesh, height field or wire
        material: from the default
        filter: collides with everything by default
        density: kg/m^3, positive, for a body whose mass is that of its shapes; 1,000
        sensor: reports overlaps, pushes nothing, has no mass; false
        hit_events: reports TN_EVENT_HIT; false
        """
        values = {
            "kind": kind,
            "position": position,
            "rotation": rotation,
            "radius": radius,
            "half_length": half_length,
            "half_extents": half_extents,
            "geometry": geometry,
            "material": material,
            "filter": filter,
            "density": density,
            "sensor": sensor,
            "hit_events": hit_events,
        }
        self._configure(values)


class GeometryBase(Handle):
    """Data that shapes share: a hull, mesh, height field or wire."""

    _prefix = "tn_geometry"
    __slots__ = ()


class SoftBase(Handle):
    """A body of particles: cloth, rope, soft solid, balloon."""

    _prefix = "tn_soft"
    __slots__ = ()

    @property
    def positions(self) -> Array:
        """Reads the positions of all particles, m.

        Particles are in the order of the vertices of the definition; those that tears make come after
        them.
        """
        return self._list(lib.tn_soft_positions, "tn_pos")

    @positions.setter
    def positions(self, value: Any) -> None:
        self._set_list(lib.tn_soft_set_positions, "tn_pos", "positions", value)

    @property
    def velocities(self) -> Array:
        """Reads the velocities of all particles, m/s."""
        return self._list(lib.tn_soft_velocities, "tn_vec3")

    @velocities.setter
    def velocities(self, value: Any) -> None:
        self._set_list(lib.tn_soft_set_velocities, "tn_vec3", "velocities", value)

    @property
    def masses(self) -> Array:
        """Reads the masses of all particles, kg."""
        return self._list(lib.tn_soft_masses, "float")

    @property
    def triangles(self) -> Array:
        """Reads the corners of all triangles, as numbers of particles: capacity and result count array elements, three for each triangle.
        """
        return self._list(lib.tn_soft_triangles, "int")

    @property
    def energy(self) -> Energy:
        """Energy of a soft body, J."""
        return self._get(lib.tn_soft_energy)

    @property
    def volume(self) -> float:
        """Volume that the closed triangles of a soft body enclose, m^3."""
        return self._get(lib.tn_soft_volume)

    @property
    def pressure(self) -> float:
        """The pressure, as the volume over that at rest; 0: none."""
        return self._get(lib.tn_soft_pressure)

    @pressure.setter
    def pressure(self, value: float) -> None:
        self._set(lib.tn_soft_set_pressure, "float", "pressure", value)

    @property
    def damping(self) -> float:
        """Damping of all motion but that as a rigid body, 1/s."""
        return self._get(lib.tn_soft_damping)

    @damping.setter
    def damping(self, value: float) -> None:
        self._set(lib.tn_soft_set_damping, "float", "damping", value)

    @property
    def awake(self) -> bool:
        """Whether a soft body is awake."""
        return self._get(lib.tn_soft_is_awake)

    @awake.setter
    def awake(self, value: bool) -> None:
        self._set(lib.tn_soft_set_awake, "bool", "awake", value)

    @property
    def contacts(self) -> Array:
        """Lists the contacts of a soft body in the last step."""
        return self._list(lib.tn_soft_contacts, "tn_soft_contact")

    @property
    def radius(self) -> float:
        """Radius of a soft body's particles, m: how far surfaces stay away from them."""
        return self._get(lib.tn_soft_radius)

    def position(self, particle: int) -> Array:
        """Position of a particle, m. This and all functions for one particle take constant time."""
        return cast('Array', self._call(lib.tn_soft_position, ("int", "particle", particle)))

    def set_position(self, particle: int, position: Vector) -> None:
        """Sets the position of a particle, m. The body wakes up."""
        self._do(lib.tn_soft_set_position, ("int", "particle", particle), ("tn_pos", "position", position), old=lib.tn_soft_position)

    def velocity(self, particle: int) -> Array:
        """Velocity of a particle, m/s."""
        return cast('Array', self._call(lib.tn_soft_velocity, ("int", "particle", particle)))

    def set_velocity(self, particle: int, velocity: Vector) -> None:
        """Sets the velocity of a particle, m/s. The body wakes up."""
        self._do(lib.tn_soft_set_velocity, ("int", "particle", particle), ("tn_vec3", "velocity", velocity), old=lib.tn_soft_velocity)

    def set_pinned(self, particle: int, pinned: bool) -> None:
        """Pins a particle, or lets it go; either stops it. A pinned one moves with the velocity it is
        given, whatever pulls at it.
        """
        self._do(lib.tn_soft_set_pinned, ("int", "particle", particle), ("bool", "pinned", pinned))

    def is_pinned(self, particle: int) -> bool:
        """Whether a particle is pinned."""
        return cast('bool', self._call(lib.tn_soft_is_pinned, ("int", "particle", particle)))

    def apply_force(self, particle: int, force: Vector) -> None:
        """Adds a force on a particle during the next step, N. The body wakes up."""
        self._do(lib.tn_soft_apply_force, ("int", "particle", particle), ("tn_vec3", "force", force))

    def momentum(self, about: Vector) -> Momentum:
        """Momentum of a soft body, angular about a point, m."""
        return cast('Momentum', self._call(lib.tn_soft_momentum, ("tn_pos", "about", about)))

    @property
    def rotation(self) -> Array:
        """of that frame; of a length from 0.9 to 1.1"""
        return cast('Array', self._field("rotation"))

    @rotation.setter
    def rotation(self, value: Any) -> None:
        self._configure({"rotation": value})

    @property
    def mass(self) -> float:
        """kg, shared out by volume, or by area, or by length; 1"""
        return cast('float', self._field("mass"))

    @mass.setter
    def mass(self, value: Any) -> None:
        self._configure({"mass": value})

    @property
    def edge_compliance(self) -> float:
        """m/N, 0 or more; 0 is rigid"""
        return cast('float', self._field("edge_compliance"))

    @edge_compliance.setter
    def edge_compliance(self, value: Any) -> None:
        self._configure({"edge_compliance": value})

    @property
    def stretch_limit(self) -> float:
        """strain that no compliant edge exceeds; infinite: none"""
        return cast('float', self._field("stretch_limit"))

    @stretch_limit.setter
    def stretch_limit(self, value: Any) -> None:
        self._configure({"stretch_limit": value})

    @property
    def tear_strain(self) -> float:
        """strain beyond which elements tear; infinite: never"""
        return cast('float', self._field("tear_strain"))

    @tear_strain.setter
    def tear_strain(self, value: Any) -> None:
        self._configure({"tear_strain": value})

    @property
    def tear_force(self) -> float:
        """N, of an edge, mean over a step; infinite: never"""
        return cast('float', self._field("tear_force"))

    @tear_force.setter
    def tear_force(self, value: Any) -> None:
        self._configure({"tear_force": value})

    @property
    def bending_stiffness(self) -> float:
        """N m: the flexural rigidity of a plate; 0 bends freely"""
        return cast('float', self._field("bending_stiffness"))

    @bending_stiffness.setter
    def bending_stiffness(self, value: Any) -> None:
        self._configure({"bending_stiffness": value})

    @property
    def solid(self) -> SoftMaterial:
        """of tetrahedra; COROTATED"""
        return cast('SoftMaterial', self._field("solid"))

    @solid.setter
    def solid(self, value: Any) -> None:
        self._configure({"solid": value})

    @property
    def youngs_modulus(self) -> float:
        """Pa, of tetrahedra, hexahedra and clusters; 1e5"""
        return cast('float', self._field("youngs_modulus"))

    @youngs_modulus.setter
    def youngs_modulus(self, value: Any) -> None:
        self._configure({"youngs_modulus": value})

    @property
    def poisson_ratio(self) -> float:
        """of elastic tetrahedra, 0 to 0.49; 0.3"""
        return cast('float', self._field("poisson_ratio"))

    @poisson_ratio.setter
    def poisson_ratio(self, value: Any) -> None:
        self._configure({"poisson_ratio": value})

    @property
    def yield_strain(self) -> float:
        """beyond it matched elements flow; infinite: elastic"""
        return cast('float', self._field("yield_strain"))

    @yield_strain.setter
    def yield_strain(self, value: Any) -> None:
        self._configure({"yield_strain": value})

    @property
    def creep(self) -> float:
        """1/s, how fast they flow; infinite: at once"""
        return cast('float', self._field("creep"))

    @creep.setter
    def creep(self, value: Any) -> None:
        self._configure({"creep": value})

    @property
    def plastic_limit(self) -> float:
        """largest strain that stays; infinite: no limit"""
        return cast('float', self._field("plastic_limit"))

    @plastic_limit.setter
    def plastic_limit(self, value: Any) -> None:
        self._configure({"plastic_limit": value})

    @property
    def volume_compliance(self) -> float:
        """m^3/Pa, of VOLUME and of a closed surface; 0"""
        return cast('float', self._field("volume_compliance"))

    @volume_compliance.setter
    def volume_compliance(self, value: Any) -> None:
        self._configure({"volume_compliance": value})

    @property
    def stiffness_damping(self) -> float:
        """s, 0 to 1e6: rows resist their rate of change as a spring would"""
        return cast('float', self._field("stiffness_damping"))

    @stiffness_damping.setter
    def stiffness_damping(self, value: Any) -> None:
        self._configure({"stiffness_damping": value})

    @property
    def linear_damping(self) -> float:
        """1/s, 0 to 1e6, of all motion"""
        return cast('float', self._field("linear_damping"))

    @linear_damping.setter
    def linear_damping(self, value: Any) -> None:
        self._configure({"linear_damping": value})

    @property
    def gravity_scale(self) -> float:
        """-1e6 to 1e6; 1"""
        return cast('float', self._field("gravity_scale"))

    @gravity_scale.setter
    def gravity_scale(self, value: Any) -> None:
        self._configure({"gravity_scale": value})

    @property
    def material(self) -> Material:
        """from the default"""
        return cast('Material', self._field("material"))

    @material.setter
    def material(self, value: Any) -> None:
        self._configure({"material": value})

    @property
    def filter(self) -> Filter:
        """collides with everything by default"""
        return cast('Filter', self._field("filter"))

    @filter.setter
    def filter(self, value: Any) -> None:
        self._configure({"filter": value})

    @property
    def curved_rest(self) -> bool:
        """bending pulls to the shape of the definition, not to flat; false"""
        return cast('bool', self._field("curved_rest"))

    @curved_rest.setter
    def curved_rest(self, value: Any) -> None:
        self._configure({"curved_rest": value})

    @property
    def self_collision(self) -> bool:
        """particles of the same body keep two radii apart; false"""
        return cast('bool', self._field("self_collision"))

    @self_collision.setter
    def self_collision(self, value: Any) -> None:
        self._configure({"self_collision": value})

    @property
    def keep_momentum(self) -> bool:
        """restored after each step where the world solves positions; true"""
        return cast('bool', self._field("keep_momentum"))

    @keep_momentum.setter
    def keep_momentum(self, value: Any) -> None:
        self._configure({"keep_momentum": value})

    @property
    def can_sleep(self) -> bool:
        """may fall asleep at rest; true"""
        return cast('bool', self._field("can_sleep"))

    @can_sleep.setter
    def can_sleep(self, value: Any) -> None:
        self._configure({"can_sleep": value})

    def configure(
        self,
        *,
        position: Vector = UNSET,
        rotation: Vector = UNSET,
        velocity: Vector = UNSET,
        mass: float = UNSET,
        edge_compliance: float = UNSET,
        stretch_limit: float = UNSET,
        tear_strain: float = UNSET,
        tear_force: float = UNSET,
        bending_stiffness: float = UNSET,
        solid: Union[SoftMaterial, str, int] = UNSET,
        youngs_modulus: float = UNSET,
        poisson_ratio: float = UNSET,
        yield_strain: float = UNSET,
        creep: float = UNSET,
        plastic_limit: float = UNSET,
        volume_compliance: float = UNSET,
        pressure: float = UNSET,
        stiffness_damping: float = UNSET,
        damping: float = UNSET,
        linear_damping: float = UNSET,
        gravity_scale: float = UNSET,
        radius: float = UNSET,
        material: Union[Material, Mapping[str, Any]] = UNSET,
        filter: Union[Filter, Mapping[str, Any]] = UNSET,
        curved_rest: bool = UNSET,
        self_collision: bool = UNSET,
        keep_momentum: bool = UNSET,
        can_sleep: bool = UNSET,
    ) -> None:
        """Changes several settings at once, or none of them.

        Omitted arguments have the defaults of the engine.

        position: of the frame of the vertices, m
        rotation: of that frame; of a length from 0.9 to 1.1
        velocity: of all particles, m/s
        mass: kg, shared out by volume, or by area, or by length; 1
        edge_compliance: m/N, 0 or more; 0 is rigid
        stretch_limit: strain that no compliant edge exceeds; infinite: none
        tear_strain: strain beyond which elements tear; infinite: never
        tear_force: N, of an edge, mean over a step; infinite: never
        bending_stiffness: N m: the flexural rigidity of a plate; 0 bends freely
        solid: of tetrahedra; COROTATED
        youngs_modulus: Pa, of tetrahedra, hexahedra and clusters; 1e5
        poisson_ratio: of elastic tetrahedra, 0 to 0.49; 0.3
        yield_strain: beyond it matched elements flow; infinite: elastic
        creep: 1/s, how fast they flow; infinite: at once
        plastic_limit: largest strain that stays; infinite: no limit
        volume_compliance: m^3/Pa, of VOLUME and of a closed surface; 0
        pressure: volume of a closed surface over that at rest, to 1,000; 0: none
        stiffness_damping: s, 0 to 1e6: rows resist their rate of change as a spring would
        damping: 1/s, 0 to 1e6, of all motion but that as a rigid body
        linear_damping: 1/s, 0 to 1e6, of all motion
        gravity_scale: -1e6 to 1e6; 1
        radius: of a particle, m, 0 to 1e6: how far surfaces stay away; 0.005
        material: from the default
        filter: collides with everything by default
        curved_rest: bending pulls to the shape of the definition, not to flat; false
        self_collision: particles of the same body keep two radii apart; false
        keep_momentum: restored after each step where the world solves positions; true
        can_sleep: may fall asleep at rest; true
        """
        values = {
            "position": position,
            "rotation": rotation,
            "velocity": velocity,
            "mass": mass,
            "edge_compliance": edge_compliance,
            "stretch_limit": stretch_limit,
            "tear_strain": tear_strain,
            "tear_force": tear_force,
            "bending_stiffness": bending_stiffness,
            "solid": solid,
            "youngs_modulus": youngs_modulus,
            "poisson_ratio": poisson_ratio,
            "yield_strain": yield_strain,
            "creep": creep,
            "plastic_limit": plastic_limit,
            "volume_compliance": volume_compliance,
            "pressure": pressure,
            "stiffness_damping": stiffness_damping,
            "damping": damping,
            "linear_damping": linear_damping,
            "gravity_scale": gravity_scale,
            "radius": radius,
            "material": material,
            "filter": filter,
            "curved_rest": curved_rest,
            "self_collision": self_collision,
            "keep_momentum": keep_momentum,
            "can_sleep": can_sleep,
        }
        self._configure(values)


class AttachmentBase(Handle):
    """A tie between a particle of a soft body and a point of a rigid body or of the world."""

    _prefix = "tn_attachment"
    __slots__ = ()

    @property
    def point(self) -> Array:
        """The end on the body, in its frame, or in the world, m."""
        return self._get(lib.tn_attachment_point)

    @point.setter
    def point(self, value: Any) -> None:
        self._set(lib.tn_attachment_set_point, "tn_pos", "point", value)

    @property
    def state(self) -> AttachmentState:
        """What an attachment does now: force and length."""
        return self._get(lib.tn_attachment_get_state)

    @property
    def soft(self) -> Optional[Soft]:
        """the soft body"""
        return cast('Optional[Soft]', self._field("soft"))

    @property
    def particle(self) -> int:
        """of the soft body"""
        return cast('int', self._field("particle"))

    @particle.setter
    def particle(self, value: Any) -> None:
        self._configure({"particle": value})

    @property
    def body(self) -> Optional[Body]:
        """null: the world"""
        return cast('Optional[Body]', self._field("body"))

    @property
    def compliance(self) -> float:
        """m/N, 0 to 1e12; 0 is rigid"""
        return cast('float', self._field("compliance"))

    @compliance.setter
    def compliance(self, value: Any) -> None:
        self._configure({"compliance": value})

    @property
    def break_force(self) -> float:
        """N, mean over a step; infinite, the default: never breaks"""
        return cast('float', self._field("break_force"))

    @break_force.setter
    def break_force(self, value: Any) -> None:
        self._configure({"break_force": value})

    def configure(
        self,
        *,
        soft: Optional[Soft] = UNSET,
        particle: int = UNSET,
        body: Optional[Body] = UNSET,
        point: Vector = UNSET,
        compliance: float = UNSET,
        break_force: float = UNSET,
    ) -> None:
        """Changes several settings at once, or none of them.

        Omitted arguments have the defaults of the engine.

        soft: the soft body
        particle: of the soft body
        body: null: the world
        point: in the body's frame, or in the world, m
        compliance: m/N, 0 to 1e12; 0 is rigid
        break_force: N, mean over a step; infinite, the default: never breaks
        """
        values = {
            "soft": soft,
            "particle": particle,
            "body": body,
            "point": point,
            "compliance": compliance,
            "break_force": break_force,
        }
        self._configure(values)


OTHER_HANDLES: Dict[str, Type[Handle]] = {"tn_coupling_id": Coupling}

__all__ = [
    "VERSION_MAJOR",
    "VERSION_MINOR",
    "VERSION_PATCH",
    "VERSION_STRING",
    "PI",
    "MAX_DISTANCE",
    "MAX_RATE",
    "POSE_NUMBERS",
    "VELOCITY_NUMBERS",
    "FORCE_NUMBERS",
    "MATRIX_NUMBERS",
    "COUPLING_AXES",
    "COUPLING_POINTS",
    "LogLevel",
    "Method",
    "Quality",
    "StepStatus",
    "BodyType",
    "ShapeKind",
    "Combine",
    "EventKind",
    "JointKind",
    "JointAxis",
    "SoftMaterial",
    "SoftEventKind",
    "Number",
    "ImportFormat",
    "ImportFate",
    "ImportBase",
    "BatchField",
    "VersionInfo",
    "Limits",
    "Profile",
    "Counters",
    "Mass",
    "Energy",
    "Momentum",
    "Material",
    "Filter",
    "WirePoint",
    "ContactPoint",
    "Contact",
    "ContactEvent",
    "SleepEvent",
    "Hit",
    "QueryFilter",
    "Drive",
    "Axis",
    "JointState",
    "ReachResult",
    "JointBreakEvent",
    "AttachmentState",
    "SoftContact",
    "SoftEvent",
    "PrincipalAxes",
    "HullFace",
    "MoveEvent",
    "ArticulationCounts",
    "ArticulationJoint",
    "CouplingAxis",
    "CouplingPoint",
    "CouplingDrive",
    "CouplingState",
    "ReplayFrame",
    "ImportNote",
    "ModelBody",
    "ModelCounts",
    "BatchShape",
    "Coupling",
]
