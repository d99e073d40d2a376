/// @file
/// Tenon: rigid bodies, joints, contacts and soft bodies by substepped extended position based
/// dynamics.
///
/// A world owns everything. Bodies, joints, shapes and soft bodies are named by ids. A call that
/// cannot be carried out changes nothing, says why through the world's log callback, and returns a
/// null id, false or a zeroed value: so does every function here for a null world (without a
/// message), a null, stale or foreign id, and a number that is not finite or out of range. Calls on
/// one world must not run at the same time; different worlds are independent.
///
/// A getter is named after what it returns: tn_body_mass(). Where that is the name of a type, `get`
/// stands in front of it: tn_body_get_type(), tn_joint_get_def(). The setter is `set` and the same
/// name; whether something is so is asked by `is` and an adjective.
#ifndef TENON_TENON_H
#define TENON_TENON_H

#include "articulation.h"
#include "bulk.h"
#include "coupling.h"
#include "recorder.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// World

/// The usual definition of a world: gravity (0, -9.81, 0) m/s^2, 8 substeps, one thread, sleep.
TN_API tn_world_def tn_default_world_def(void);

/// Makes a world.
///
/// @param def  from tn_default_world_def(); copied
/// @return the world, for tn_world_destroy(); null if `def` is invalid or there is no memory, with
///         the reason in its log
TN_API tn_world *tn_world_create(const tn_world_def *def);

/// Destroys a world with all that it contains, and gives its memory back. Null does nothing.
TN_API void tn_world_destroy(tn_world *world);

/// Advances a world by a step.
///
/// Forces that were applied act during it and are then forgotten. Events of the last step are
/// replaced by those of this one.
///
/// @param world  the world
/// @param dt     s, above 0 and up to 10; the same every time gives the best results
/// @return bits of tn_step_status; TN_STEP_OK is a clean step
TN_API uint32_t tn_world_step(tn_world *world, float dt);

/// Sets gravity, m/s^2, and wakes everything; no component beyond TN_MAX_RATE.
TN_API bool tn_world_set_gravity(tn_world *world, tn_vec3 gravity);
/// Gravity, m/s^2.
TN_API tn_vec3 tn_world_gravity(const tn_world *world);
/// Sets how constraints are solved. Impulses for warm starts are dropped.
TN_API bool tn_world_set_method(tn_world *world, tn_method method);
/// How constraints are solved.
TN_API tn_method tn_world_method(const tn_world *world);
/// Sets the number of substeps in each step, 1 to 10,000.
TN_API bool tn_world_set_substeps(tn_world *world, int substeps);
/// Substeps in each step.
TN_API int tn_world_substeps(const tn_world *world);

/// Number of substeps that gives a scene a quality.
///
/// How much contacts yield, relative to the size, goes as gravity h^2 / size with h the length of a
/// substep.
///
/// @param quality  what TN_QUALITY_* gives bodies of a metre on Earth
/// @param gravity  m/s^2, 0 or more
/// @param size     m, above 0: of the smaller bodies that matter
/// @param dt       s, above 0 and up to 10: length of a step
/// @return 2 to 10,000; 0 for bad arguments
TN_API int tn_substeps_for(tn_quality quality, float gravity, float size, float dt);

/// Sets the number of passes over the constraints in each substep, 1 to 10,000; 1 is best.
TN_API bool tn_world_set_iterations(tn_world *world, int iterations);
/// Passes over the constraints in each substep.
TN_API int tn_world_iterations(const tn_world *world);
/// The host's pointer, from the definition or tn_world_set_user_data(). Not part of a snapshot.
TN_API void *tn_world_user_data(const tn_world *world);
/// Sets the host's pointer.
TN_API bool tn_world_set_user_data(tn_world *world, void *data);
/// Constraints that are solved at a time: 1, 4, 8 or 16. Results do not depend on it.
TN_API int tn_world_lanes(const tn_world *world);
/// How much of everything there is, and the memory in use.
TN_API tn_counters tn_world_counters(const tn_world *world);
/// How long the parts of the last step took; all zero without a clock in the definition.
TN_API tn_profile tn_world_profile(const tn_world *world);

/// Lists the bodies of a world in slot order.
///
/// @param world     the world
/// @param ids       filled in, up to `capacity`; may be null if that is 0
/// @param capacity  room in `ids`
/// @return how many there are, which may be more than fit
TN_API int tn_world_bodies(const tn_world *world, tn_body_id *ids, int capacity);
/// Lists the joints of a world in slot order; parameters and result as of tn_world_bodies().
TN_API int tn_world_joints(const tn_world *world, tn_joint_id *ids, int capacity);

/// Joints that broke in the last step.
///
/// @param world  the world
/// @param count  set to their number; may be null
/// @return the world's array, valid until the next step; null if there are none
TN_API const tn_joint_break_event *tn_world_joint_breaks(const tn_world *world, int *count);

/// What happened to contacts in the last step; parameters and result as of tn_world_joint_breaks().
TN_API const tn_contact_event *tn_world_contact_events(const tn_world *world, int *count);
/// Bodies that fell asleep or woke in the last step; parameters and result as of
/// tn_world_joint_breaks().
TN_API const tn_sleep_event *tn_world_sleep_events(const tn_world *world, int *count);
/// What happened to soft bodies in the last step; parameters and result as of
/// tn_world_joint_breaks().
TN_API const tn_soft_event *tn_world_soft_events(const tn_world *world, int *count);

/// Lists contacts that touch or nearly, with the forces of the last step; parameters and result as
/// of tn_world_bodies().
TN_API int tn_world_contacts(const tn_world *world, tn_contact *contacts, int capacity);
/// Lists the contacts of a body; parameters and result as of tn_world_bodies().
TN_API int tn_body_contacts(const tn_world *world, tn_body_id body, tn_contact *contacts,
                            int capacity);

/// Sets a callback that decides about pairs besides the filters of shapes.
///
/// It holds for pairs that form later.
///
/// @param world    the world
/// @param filter   null: none
/// @param context  passed to it; the host's
/// @return false for a null world
TN_API bool tn_world_set_pair_filter(tn_world *world, tn_pair_filter_fn *filter, void *context);
/// The callback that decides about pairs; its context is written unless `context` is null.
TN_API tn_pair_filter_fn *tn_world_pair_filter(const tn_world *world, void **context);

/// Allows or forbids sleep; forbidding it wakes every body.
TN_API bool tn_world_set_sleeping(tn_world *world, bool sleeping);
/// Whether bodies at rest may fall asleep.
TN_API bool tn_world_sleeping(const tn_world *world);
/// Sets the speed of the fastest point below which a body counts as still, from 0 to 1e6 m/s.
///
/// Without contacts and joints a hundredth of it counts: a thrown body does not fall asleep at the
/// top of its path. 0, the default: 0.01 m/s for a body that reaches 1 m from its centre under
/// 9.81 m/s^2, and with the root of size and gravity; gravity below 1 m/s^2 counts as that.
TN_API bool tn_world_set_sleep_speed(tn_world *world, float speed);
/// The speed below which bodies count as still, as it was set, m/s.
TN_API float tn_world_sleep_speed(const tn_world *world);
/// Sets how long all bodies of an island are still before it falls asleep, from 0 to 1e6 s.
///
/// 0, the default: 1.57 s times the root of size over gravity, at least 0.5 s.
TN_API bool tn_world_set_sleep_time(tn_world *world, float time);
/// The time at rest before an island falls asleep, as it was set, s.
TN_API float tn_world_sleep_time(const tn_world *world);

/// A fingerprint of the whole state, with all that decides how it goes on: settings, forces and
/// targets for the next step. Equal states have equal hashes on every machine, for every lane width
/// and number of threads.
TN_API uint64_t tn_world_hash(const tn_world *world);

/// Saves the exact state of a world.
///
/// The bytes are for the same version and machine type. Callbacks and the pointers of the host are
/// as in the world that restores, except user data of bodies and the like, which are saved.
///
/// @param world     the world
/// @param buffer    written only if `capacity` suffices; may be null
/// @param capacity  bytes in `buffer`
/// @return the bytes needed; 0 for a null world
TN_API size_t tn_world_save(const tn_world *world, void *buffer, size_t capacity);

/// Replaces everything in a world by a saved state, or changes nothing.
///
/// Ids taken before the save are valid again, ids made after it are not: what is created after the
/// restore gets the same ids once more, so that a replay finds them equal.
///
/// @param world   the world; need not be the one that was saved
/// @param buffer  from tn_world_save(); only read, need not be aligned
/// @param size    bytes in `buffer`
/// @return false, with the reason in the log, if the bytes are damaged or of another version or
///         machine type, or there is no memory
TN_API bool tn_world_restore(tn_world *world, const void *buffer, size_t size);

/// Makes another world in the same state, which uses the geometries of the first: do not destroy or
/// restore that one, and remove none of its geometries, while copies are in use.
///
/// @param world  the original
/// @param def    from tn_default_world_def(); copied. Settings that a snapshot has are not used
/// @return for tn_world_destroy(); null for bad arguments or without memory, with the reason in the
/// log
TN_API tn_world *tn_world_copy(const tn_world *world, const tn_world_def *def);

/// Saves the dynamic state of a world: all that differs between two worlds that have the same
/// things in them. That is poses, velocities, contacts, impulses, sleep, particles, broken joints,
/// and forces and targets for the next step; not masses, materials, gains of drives, gravity and
/// other settings.
///
/// @param world     the world
/// @param buffer    its content is of no use if `capacity` does not suffice; may be null
/// @param capacity  bytes in `buffer`
/// @return the bytes needed; 0 for a null world, or without memory
TN_API size_t tn_world_save_state(const tn_world *world, void *buffer, size_t capacity);

/// Puts a world into a saved dynamic state, or changes nothing.
///
/// The world goes on as the one that was saved did, to the bit, if settings and definitions are the
/// same. With other masses bodies keep their velocities. Events and tn_world_moved() are empty
/// afterwards.
///
/// @param world   one with the same bodies, joints, shapes and soft bodies as the one that was
///                saved: the same world, or one that was made by the same calls
/// @param buffer  from tn_world_save_state(); only read, need not be aligned
/// @param size    bytes in `buffer`
/// @return false, with the reason in the log, if the world has other things, a soft body was torn
///         since, the bytes are damaged or of another version or machine type, or there is no
///         memory
TN_API bool tn_world_restore_state(tn_world *world, const void *buffer, size_t size);

/// Energy of all dynamic bodies, soft bodies and springs, J.
TN_API tn_energy tn_world_energy(const tn_world *world);
/// Momentum of all dynamic bodies and soft bodies.
///
/// @param world  the world
/// @param about  point that the angular momentum is taken about, m
/// @return zero if the point is not finite
TN_API tn_momentum tn_world_momentum(const tn_world *world, tn_pos about);
/// Energy of a set of bodies, with the springs whose moving ends are all in the set; each body
/// counts once. Zero if an id is bad.
TN_API tn_energy tn_bodies_energy(const tn_world *world, const tn_body_id *ids, int count);
/// Momentum of a set of bodies; each counts once. Zero if an id is bad.
TN_API tn_momentum tn_bodies_momentum(const tn_world *world, const tn_body_id *ids, int count,
                                      tn_pos about);

// ---------------------------------------------------------------------------------------------
// Mass properties of solids, for tn_body_def. Lengths in m, densities in kg/m^3, all positive. A
// zeroed tn_mass means bad input, explained on stderr.

/// Mass of a sphere about its centre.
TN_API tn_mass tn_mass_sphere(float radius, float density);
/// Mass of a box about its centre.
TN_API tn_mass tn_mass_box(tn_vec3 half_extents, float density);
/// Mass of a capsule along y; `half_length` is that of the straight part.
TN_API tn_mass tn_mass_capsule(float radius, float half_length, float density);
/// Mass of a cylinder along y.
TN_API tn_mass tn_mass_cylinder(float radius, float half_length, float density);
/// Mass of a cone along y, base at -half_length, tip at +half_length.
TN_API tn_mass tn_mass_cone(float radius, float half_length, float density);
/// Mass of the solid convex hull of `count` points, which must span a volume.
TN_API tn_mass tn_mass_hull(const tn_vec3 *points, int count, float density);

/// Mass of the solid inside a closed mesh, after Blow and Binstock.
///
/// @param vertices        m; only read
/// @param vertex_count    number of vertices
/// @param triangles       three vertices each, counter-clockwise from outside; only read
/// @param triangle_count  number of triangles
/// @param density         kg/m^3
/// @return zero if the mesh is open, flat or inside out
TN_API tn_mass tn_mass_mesh(const tn_vec3 *vertices, int vertex_count, const int *triangles,
                            int triangle_count, float density);
/// A solid moved to a place in the body's frame.
TN_API tn_mass tn_mass_at(tn_mass mass, tn_vec3 position, tn_quat rotation);
/// Several solids as one; `count` is 1 or more.
TN_API tn_mass tn_mass_compound(const tn_mass *parts, int count);
/// The same distribution with another total, kg.
TN_API tn_mass tn_mass_scaled_to(tn_mass mass, float total);

// ---------------------------------------------------------------------------------------------
// Bodies

/// The usual definition of a body: dynamic, at the origin, at rest, with the mass of its shapes.
TN_API tn_body_def tn_default_body_def(void);

/// Makes a body.
///
/// @param world  the world that will own it
/// @param def    from tn_default_body_def(); copied
/// @return the new body, or a null id if `def` is invalid or there is no memory
TN_API tn_body_id tn_body_create(tn_world *world, const tn_body_def *def);
/// Destroys a body with its shapes, joints and attachments; what it touched wakes up.
TN_API bool tn_body_destroy(tn_world *world, tn_body_id body);
/// Whether an id names a body of this world that is still there. Logs nothing.
TN_API bool tn_body_is_valid(const tn_world *world, tn_body_id body);

/// A body as a definition: its present pose, velocities and settings, with a zero mass if that
/// follows the shapes.
///
/// `name` points to memory of the world and is valid until a body is created, destroyed or renamed.
TN_API tn_body_def tn_body_get_def(const tn_world *world, tn_body_id body);

/// Writes a whole definition: pose, velocities, mass and settings. The body wakes up.
///
/// Written as it was read, a definition changes nothing else, to the bit.
///
/// @param world  the world
/// @param body   the body
/// @param def    as tn_body_get_def() gives it; copied
/// @return false if `def` is invalid, or dynamic and the body has a shape that cannot be
TN_API bool tn_body_set_def(tn_world *world, tn_body_id body, const tn_body_def *def);

/// Type of a body.
TN_API tn_body_type tn_body_get_type(const tn_world *world, tn_body_id body);
/// Sets the type of a body. A body with a plane, mesh or height field cannot become dynamic.
TN_API bool tn_body_set_type(tn_world *world, tn_body_id body, tn_body_type type);

/// Pose of a body's frame.
TN_API tn_transform tn_body_transform(const tn_world *world, tn_body_id body);
/// Where a body's origin is, m.
TN_API tn_pos tn_body_position(const tn_world *world, tn_body_id body);
/// Rotation from a body's frame to the world; the identity for a bad id.
TN_API tn_quat tn_body_rotation(const tn_world *world, tn_body_id body);
/// Where a body's centre of mass is, m.
TN_API tn_pos tn_body_center(const tn_world *world, tn_body_id body);
/// Moves a body at once, without a velocity: what is in the way then overlaps. It wakes up.
TN_API bool tn_body_set_transform(tn_world *world, tn_body_id body, tn_transform transform);
/// Velocity of the body's point that is at `point` of the world, m/s.
TN_API tn_vec3 tn_body_point_velocity(const tn_world *world, tn_body_id body, tn_pos point);

/// Velocity of a body's centre of mass, m/s.
TN_API tn_vec3 tn_body_velocity(const tn_world *world, tn_body_id body);
/// Angular velocity of a body, rad/s, world axes.
TN_API tn_vec3 tn_body_angular_velocity(const tn_world *world, tn_body_id body);
/// Sets the velocity of the centre of mass of a dynamic or kinematic body, m/s. It wakes up.
TN_API bool tn_body_set_velocity(tn_world *world, tn_body_id body, tn_vec3 velocity);
/// Sets the angular velocity of a dynamic or kinematic body, rad/s, world axes. It wakes up.
TN_API bool tn_body_set_angular_velocity(tn_world *world, tn_body_id body, tn_vec3 velocity);
/// Moves a kinematic body so that the next step ends at `target`; afterwards it stands.
TN_API bool tn_body_move_to(tn_world *world, tn_body_id body, tn_transform target);

/// Adds a force during the next step, N, at a point of the world, to a dynamic body. It wakes up.
TN_API bool tn_body_apply_force(tn_world *world, tn_body_id body, tn_vec3 force, tn_pos point);
/// Adds a force during the next step, N, through the centre of mass of a dynamic body. It wakes up.
TN_API bool tn_body_apply_force_to_center(tn_world *world, tn_body_id body, tn_vec3 force);
/// Adds a torque during the next step, N m, to a dynamic body. It wakes up.
TN_API bool tn_body_apply_torque(tn_world *world, tn_body_id body, tn_vec3 torque);
/// Applies an impulse at once, N s, at a point of the world, to a dynamic body. It wakes up.
TN_API bool tn_body_apply_impulse(tn_world *world, tn_body_id body, tn_vec3 impulse, tn_pos point);
/// Applies an angular impulse at once, N m s, to a dynamic body. It wakes up.
TN_API bool tn_body_apply_angular_impulse(tn_world *world, tn_body_id body, tn_vec3 impulse);

/// Mass of a body.
///
/// A dynamic body whose definition gives no mass has that of its shapes, by their densities and
/// places; it is updated as shapes are created, changed and destroyed, until tn_body_set_mass().
/// Sensors, planes, meshes, height fields and wires add no mass. Without a solid shape, or if the
/// sum is out of range (with a warning), it is that of a cube of 1 m and 1 kg.
///
/// @return zero for a bad id, and for a body that never was dynamic and was given no mass
TN_API tn_mass tn_body_mass(const tn_world *world, tn_body_id body);
/// Gives a body a mass, whatever its shapes. Its frame and the velocity of the centre of mass stay.
/// It wakes up. False if no solid can have that mass.
TN_API bool tn_body_set_mass(tn_world *world, tn_body_id body, tn_mass mass);
/// Sets the factor of gravity, -1e6 to 1e6, and wakes the body.
TN_API bool tn_body_set_gravity_scale(tn_world *world, tn_body_id body, float scale);
/// The factor of gravity.
TN_API float tn_body_gravity_scale(const tn_world *world, tn_body_id body);
/// Sets the damping of the velocity, 1/s, 0 to 1e6.
TN_API bool tn_body_set_linear_damping(tn_world *world, tn_body_id body, float damping);
/// Damping of the velocity, 1/s.
TN_API float tn_body_linear_damping(const tn_world *world, tn_body_id body);
/// Sets the damping of the angular velocity, 1/s, 0 to 1e6.
TN_API bool tn_body_set_angular_damping(tn_world *world, tn_body_id body, float damping);
/// Damping of the angular velocity, 1/s.
TN_API float tn_body_angular_damping(const tn_world *world, tn_body_id body);
/// Sets the speed limit, m/s, 0 to 3e38.
TN_API bool tn_body_set_max_speed(tn_world *world, tn_body_id body, float speed);
/// The speed limit, m/s.
TN_API float tn_body_max_speed(const tn_world *world, tn_body_id body);
/// Sets the limit of the angular speed, rad/s, 0 to 3e38.
TN_API bool tn_body_set_max_angular_speed(tn_world *world, tn_body_id body, float speed);
/// The limit of the angular speed, rad/s.
TN_API float tn_body_max_angular_speed(const tn_world *world, tn_body_id body);
/// The host's pointer.
TN_API void *tn_body_user_data(const tn_world *world, tn_body_id body);
/// Sets the host's pointer.
TN_API bool tn_body_set_user_data(tn_world *world, tn_body_id body, void *data);
/// Name of a body: memory of the world, valid until a body is created, destroyed or renamed; empty
/// for none.
TN_API const char *tn_body_name(const tn_world *world, tn_body_id body);
/// Names a body; the name is copied, cut to 31 bytes. Null: no name.
TN_API bool tn_body_set_name(tn_world *world, tn_body_id body, const char *name);
/// Lists the joints of a body; parameters and result as of tn_world_bodies().
TN_API int tn_body_joints(const tn_world *world, tn_body_id body, tn_joint_id *ids, int capacity);

/// Whether a body is awake. A sleeping body does not move until something touches it or its
/// velocity, pose, forces, shapes or joints are changed.
TN_API bool tn_body_is_awake(const tn_world *world, tn_body_id body);
/// Wakes a body, or puts it to sleep with all that it touches or is joined to. False if it should
/// sleep but is not dynamic, or there is no memory.
TN_API bool tn_body_set_awake(tn_world *world, tn_body_id body, bool awake);
/// Allows or forbids a body to fall asleep; forbidding it wakes the body.
TN_API bool tn_body_set_can_sleep(tn_world *world, tn_body_id body, bool can_sleep);
/// Whether a body may fall asleep.
TN_API bool tn_body_can_sleep(const tn_world *world, tn_body_id body);

/// Gives a body the mass of its shapes, and lets it follow them: see tn_body_mass(). False if it
/// has no solid shape, or the sum is out of range.
TN_API bool tn_body_set_mass_from_shapes(tn_world *world, tn_body_id body);
/// Whether the mass of a body follows its shapes.
TN_API bool tn_body_mass_from_shapes(const tn_world *world, tn_body_id body);
/// Lists the shapes of a body, those of the world for a null id, in the order in which they were
/// made; parameters and result as of tn_world_bodies().
TN_API int tn_body_shapes(const tn_world *world, tn_body_id body, tn_shape_id *ids, int capacity);

// ---------------------------------------------------------------------------------------------
// Shapes

/// Makes a convex hull that shapes can share.
///
/// @param world         the world that will own it
/// @param points        m, in the shape's frame; copied
/// @param count         4 or more
/// @param max_vertices  4 to 255, or 0 for 64: a hull with more is simplified, from inside
/// @return null if the points span no volume or are not finite, or there is no memory
TN_API tn_geometry_id tn_hull_create(tn_world *world, const tn_vec3 *points, int count,
                                     int max_vertices);

/// Makes a mesh that shapes can share. Triangles are solid from both sides.
///
/// @param world           the world that will own it
/// @param vertices        m, in the shape's frame; copied
/// @param vertex_count    number of vertices
/// @param triangles       three vertices each, counter-clockwise from outside; copied
/// @param triangle_count  number of triangles
/// @return null if an index or vertex is bad, or there is no memory
TN_API tn_geometry_id tn_mesh_create(tn_world *world, const tn_vec3 *vertices, int vertex_count,
                                     const int *triangles, int triangle_count);

/// Makes a height field that shapes can share: centred on the origin, solid below.
///
/// @param world      the world that will own it
/// @param heights    m: heights[row * columns + column] above the point (column * spacing_x,
///                   row * spacing_z); copied
/// @param columns    2 or more
/// @param rows       2 or more
/// @param spacing_x  m between columns
/// @param spacing_z  m between rows
/// @return null if a number is bad, or there is no memory
TN_API tn_geometry_id tn_height_field_create(tn_world *world, const float *heights, int columns,
                                             int rows, float spacing_x, float spacing_z);

/// Makes a wire that shapes can share: a smooth curve of cubics through points.
///
/// @param world   the world that will own it
/// @param points  of its axis; copied
/// @param count   2 or more
/// @param closed  the last point is followed by the first
/// @return null if a number is bad, or there is no memory
TN_API tn_geometry_id tn_wire_create(tn_world *world, const tn_wire_point *points, int count,
                                     bool closed);
/// Destroys a geometry; refused while a shape uses it.
TN_API bool tn_geometry_destroy(tn_world *world, tn_geometry_id geometry);
/// Whether an id names a geometry of this world that is still there. Logs nothing.
TN_API bool tn_geometry_is_valid(const tn_world *world, tn_geometry_id geometry);
/// What a geometry was made of. The arrays belong to the world, as long as the geometry lives.
TN_API tn_geometry_source tn_geometry_get_source(const tn_world *world, tn_geometry_id geometry);

/// The usual material: friction 0.6, no restitution, rigid.
TN_API tn_material tn_default_material(void);
/// The usual definition of a shape of a kind: sizes of half a metre, 1,000 kg/m^3.
TN_API tn_shape_def tn_default_shape_def(tn_shape_kind kind);

/// Adds a shape to a body, which wakes up. Updates its mass if that follows the shapes.
///
/// @param world  the world
/// @param body   null: the world itself
/// @param def    from tn_default_shape_def(); copied
/// @return the new shape, or a null id if `def` is invalid, the body is dynamic and the kind cannot
///         be, or there is no memory
TN_API tn_shape_id tn_shape_create(tn_world *world, tn_body_id body, const tn_shape_def *def);
/// Destroys a shape; what it touched wakes up. Updates the mass of its body if that follows the
/// shapes.
TN_API bool tn_shape_destroy(tn_world *world, tn_shape_id shape);
/// Whether an id names a shape of this world that is still there. Logs nothing.
TN_API bool tn_shape_is_valid(const tn_world *world, tn_shape_id shape);
/// Definition of a shape as it is now.
TN_API tn_shape_def tn_shape_get_def(const tn_world *world, tn_shape_id shape);
/// Writes the definition of a shape: everything but the kind can be changed. Its contacts begin
/// anew, its body wakes up, with a new mass if that follows the shapes.
TN_API bool tn_shape_set_def(tn_world *world, tn_shape_id shape, const tn_shape_def *def);
/// Body of a shape; null is the world, or a bad id.
TN_API tn_body_id tn_shape_body(const tn_world *world, tn_shape_id shape);
/// Sets the material of a shape; its body wakes up.
TN_API bool tn_shape_set_material(tn_world *world, tn_shape_id shape, tn_material material);
/// Material of a shape.
TN_API tn_material tn_shape_material(const tn_world *world, tn_shape_id shape);
/// Sets the filter of a shape. Its contacts begin anew, its body wakes up.
TN_API bool tn_shape_set_filter(tn_world *world, tn_shape_id shape, tn_filter filter);
/// Filter of a shape.
TN_API tn_filter tn_shape_filter(const tn_world *world, tn_shape_id shape);
/// The host's pointer.
TN_API void *tn_shape_user_data(const tn_world *world, tn_shape_id shape);
/// Sets the host's pointer.
TN_API bool tn_shape_set_user_data(tn_world *world, tn_shape_id shape, void *data);
/// The box around a shape as it stands, along the axes of the world, m. False, with nothing
/// written, for a bad id or null pointers.
TN_API bool tn_shape_box(const tn_world *world, tn_shape_id shape, tn_pos *lower, tn_pos *upper);

// ---------------------------------------------------------------------------------------------
// Queries: they change nothing and may run on several threads between steps. Bad input finds
// nothing.

/// The usual filter of queries: everything but sensors.
TN_API tn_query_filter tn_default_query_filter(void);
/// The closest hit of a ray along the segment from `from` to `from + way`, m.
TN_API tn_hit tn_world_ray(const tn_world *world, tn_pos from, tn_vec3 way, tn_query_filter filter);

/// The closest hits of many rays.
///
/// @param world   the world
/// @param from    `count` starts, m
/// @param way     `count` vectors from there, m
/// @param count   number of rays
/// @param filter  for all of them
/// @param hits    `count` results, written in the same order
TN_API void tn_world_rays(const tn_world *world, const tn_pos *from, const tn_vec3 *way, int count,
                          tn_query_filter filter, tn_hit *hits);
/// All hits of a ray: `hit` is called for each of them with `context`.
TN_API void tn_world_ray_all(const tn_world *world, tn_pos from, tn_vec3 way,
                             tn_query_filter filter, tn_hit_fn *hit, void *context);

/// The first hit of a solid that moves along a segment, without turning.
///
/// @param world   the world
/// @param def     a sphere, capsule, box, cylinder, cone or hull: kind, sizes, geometry; its place
///                in the body's frame does not count
/// @param at      where it starts
/// @param way     how far it moves, m
/// @param filter  what it may hit
/// @return `hit` is false if the way is free
TN_API tn_hit tn_world_cast(const tn_world *world, const tn_shape_def *def, tn_transform at,
                            tn_vec3 way, tn_query_filter filter);
/// All hits of a solid that moves as in tn_world_cast(): `hit` is called for each of them.
TN_API void tn_world_cast_all(const tn_world *world, const tn_shape_def *def, tn_transform at,
                              tn_vec3 way, tn_query_filter filter, tn_hit_fn *hit, void *context);

/// Lists the shapes that a solid overlaps.
///
/// @param world     the world
/// @param def       the solid, as for tn_world_cast()
/// @param at        where it is
/// @param filter    what to find
/// @param shapes    filled in, up to `capacity`; may be null if that is 0
/// @param capacity  room in `shapes`
/// @return how many there are, which may be more than fit
TN_API int tn_world_overlap(const tn_world *world, const tn_shape_def *def, tn_transform at,
                            tn_query_filter filter, tn_shape_id *shapes, int capacity);
/// Lists the shapes that a box along the axes of the world overlaps, m; result as of
/// tn_world_overlap().
TN_API int tn_world_overlap_box(const tn_world *world, tn_pos lower, tn_pos upper,
                                tn_query_filter filter, tn_shape_id *shapes, int capacity);
/// Lists the soft bodies whose triangles a solid touches, or particles where there are none, or
/// whose closed surface has it inside, in slot order; result as of tn_world_overlap().
TN_API int tn_world_overlap_softs(const tn_world *world, const tn_shape_def *def, tn_transform at,
                                  tn_query_filter filter, tn_soft_id *softs, int capacity);
/// The surface point closest to `point` within `distance`, m; inside a shape its distance is
/// negative.
TN_API tn_hit tn_world_closest_point(const tn_world *world, tn_pos point, float distance,
                                     tn_query_filter filter);

/// The usual debug draw: shapes, joints, sleep and soft bodies, with no callbacks yet.
TN_API tn_debug_draw tn_default_debug_draw(void);
/// Draws a world by the callbacks of `draw`, which must not call back into the world.
TN_API void tn_world_draw(const tn_world *world, const tn_debug_draw *draw);

// ---------------------------------------------------------------------------------------------
// Joints

/// The usual definition of a joint of a kind: rigid, without limits, drives, friction and breaking.
TN_API tn_joint_def tn_default_joint_def(tn_joint_kind kind);

/// A drive that does nothing: all zero, with open limits and no limit of its speed.
TN_API tn_drive tn_default_drive(void);
/// A servo to `target` (m or rad) with a stiffness (N/m or N m/rad; infinite: rigid) and a damping
/// (N s/m or N m s/rad) against the rate.
TN_API tn_drive tn_servo(float target, float stiffness, float damping);
/// A servo whose load of `inertia` (kg or kg m^2: what moves, with its armature) swings with a
/// frequency (Hz) and a damping ratio (1: critically damped, the fastest without overshoot).
TN_API tn_drive tn_servo_tuned(float target, float inertia, float frequency, float damping_ratio);
/// A motor that pulls to `velocity` (m/s or rad/s) with a damping (N s/m or N m s/rad; infinite:
/// rigid) and at most `max_force` (N or N m) in either direction.
TN_API tn_drive tn_motor(float velocity, float damping, float max_force);
/// Stiffness of a compliance, 1 / compliance; infinite for 0.
TN_API float tn_stiffness(float compliance);

/// Fills in both frames of a definition so that they meet at a point, as the bodies stand now.
///
/// @param world  the world of the bodies
/// @param def    with kind and bodies; the frames are written
/// @param point  of the world, m
/// @param axis   direction of axis a, of any length but zero
/// @return false, with nothing written, for a bad id, point or axis
TN_API bool tn_joint_def_at(const tn_world *world, tn_joint_def *def, tn_pos point, tn_vec3 axis);
/// The same with a point for each body and axis a from one to the other; a distance joint takes its
/// length from them.
TN_API bool tn_joint_def_between(const tn_world *world, tn_joint_def *def, tn_pos point_a,
                                 tn_pos point_b);

/// Adds a joint between two bodies, or a body and the world. The bodies wake up.
///
/// @param world  the world that owns the bodies
/// @param def    from tn_default_joint_def(); copied
/// @return the new joint, or a null id if `def` is invalid (a reversed range, a body of another
///         world, a body with itself) or there is no memory
TN_API tn_joint_id tn_joint_create(tn_world *world, const tn_joint_def *def);
/// Destroys a joint. Its bodies wake up.
TN_API bool tn_joint_destroy(tn_world *world, tn_joint_id joint);
/// Whether an id names a joint of this world that is still there. Logs nothing.
TN_API bool tn_joint_is_valid(const tn_world *world, tn_joint_id joint);

/// Definition of a joint as it is now.
TN_API tn_joint_def tn_joint_get_def(const tn_world *world, tn_joint_id joint);
/// Writes the definition of a joint: everything but kind and bodies can be changed at any time. The
/// bodies wake up.
TN_API bool tn_joint_set_def(tn_world *world, tn_joint_id joint, const tn_joint_def *def);
/// Sets the drive of an axis. False, with nothing changed, if the kind has no such axis or the
/// drive is invalid. A changed target moves there over the next step. The bodies wake up.
TN_API bool tn_joint_set_drive(tn_world *world, tn_joint_id joint, tn_joint_axis axis,
                               tn_drive drive);
/// The drive of an axis.
TN_API tn_drive tn_joint_drive(const tn_world *world, tn_joint_id joint, tn_joint_axis axis);
/// Counts the turns of an angle anew: of all angles that its pose allows, the one nearest to
/// `angle` is taken from now on. Nothing moves. False if the axis counts no turns.
TN_API bool tn_joint_set_angle(tn_world *world, tn_joint_id joint, tn_joint_axis axis, float angle);
/// The angle of an axis of a hinge, cylinder or universal joint with its turns, rad; 0 with a
/// message if the axis counts none.
TN_API float tn_joint_angle(const tn_world *world, tn_joint_id joint, tn_joint_axis axis);
/// Switches a joint on or off; on mends a broken one. The bodies wake up.
TN_API bool tn_joint_set_enabled(tn_world *world, tn_joint_id joint, bool enabled);
/// Whether a joint is switched on.
TN_API bool tn_joint_is_enabled(const tn_world *world, tn_joint_id joint);
/// The host's pointer.
TN_API void *tn_joint_user_data(const tn_world *world, tn_joint_id joint);
/// Sets the host's pointer.
TN_API bool tn_joint_set_user_data(tn_world *world, tn_joint_id joint, void *data);
/// Moves the end that is fixed to the world, m, for dragging. False if there is none.
TN_API bool tn_joint_set_anchor(tn_world *world, tn_joint_id joint, tn_pos position);
/// Where the end is that is fixed to the world, m; zero, with a message, if there is none.
TN_API tn_pos tn_joint_anchor(const tn_world *world, tn_joint_id joint);

/// What a joint does now: force, torque, offset, angles, and each axis.
TN_API tn_joint_state tn_joint_get_state(const tn_world *world, tn_joint_id joint);

/// The usual definition of a reach: 100 iterations, for the position alone.
TN_API tn_reach_def tn_default_reach_def(void);

/// Inverse kinematics: moves a body, and all that joints connect it with, so that its frame comes
/// as close to the target as joints and limits allow.
///
/// No time passes: velocities stay as they are; drives, friction and contacts have no part in it.
///
/// @param world  the world
/// @param def    from tn_default_reach_def()
/// @return `ok` is false, and nothing was moved, if `def` is invalid or there is no memory
TN_API tn_reach_result tn_world_reach(tn_world *world, const tn_reach_def *def);

// ---------------------------------------------------------------------------------------------
// Soft bodies

/// The usual definition of a soft body: 1 kg, elastic, with particles of 5 mm; the arrays are for
/// the caller or a tn_soft_mesh_* function.
TN_API tn_soft_def tn_default_soft_def(void);

/// Makes a soft body.
///
/// @param world  the world that will own it
/// @param def    from tn_default_soft_def(); copied with its arrays
/// @return the new soft body, or a null id if a number or an element is invalid or there is no
///         memory
TN_API tn_soft_id tn_soft_create(tn_world *world, const tn_soft_def *def);
/// Destroys a soft body with its attachments; what it touched wakes up.
TN_API bool tn_soft_destroy(tn_world *world, tn_soft_id soft);
/// Whether an id names a soft body of this world that is still there. Logs nothing.
TN_API bool tn_soft_is_valid(const tn_world *world, tn_soft_id soft);

/// Definition of a soft body: the settings as they are now, elements, counts and pose as it was
/// made, and null instead of the arrays.
TN_API tn_soft_def tn_soft_get_def(const tn_world *world, tn_soft_id soft);

/// Writes the settings of a soft body, which wakes up.
///
/// Changed are damping, linear_damping, gravity_scale, radius, pressure (of a body that was made
/// with one), tear_strain, tear_force, creep, plastic_limit, material, filter, user_data,
/// self_collision, keep_momentum and can_sleep. Arrays, pose and velocity are not looked at.
///
/// @param world  the world
/// @param soft   the soft body
/// @param def    as tn_soft_get_def() gives it
/// @return false if a number is invalid, or counts, mass or stiffness differ
TN_API bool tn_soft_set_def(tn_world *world, tn_soft_id soft, const tn_soft_def *def);
/// Lists the soft bodies of a world in slot order; parameters and result as of tn_world_bodies().
TN_API int tn_world_softs(const tn_world *world, tn_soft_id *ids, int capacity);

/// Reads the positions of all particles, m.
///
/// Particles are in the order of the vertices of the definition; those that tears make come after
/// them.
///
/// @param world     the world
/// @param soft      the soft body
/// @param out       filled in, up to `capacity` elements; may be null if that is 0
/// @param capacity  room in `out`
/// @return number of elements that there are, which may be more than fit
TN_API int tn_soft_positions(const tn_world *world, tn_soft_id soft, tn_pos *out, int capacity);
/// Reads the velocities of all particles, m/s; parameters and result as of tn_soft_positions().
TN_API int tn_soft_velocities(const tn_world *world, tn_soft_id soft, tn_vec3 *out, int capacity);
/// Reads the masses of all particles, kg; parameters and result as of tn_soft_positions().
TN_API int tn_soft_masses(const tn_world *world, tn_soft_id soft, float *out, int capacity);
/// Reads the corners of all triangles, as numbers of particles; parameters and result as of
/// tn_soft_positions(): capacity and result count array elements, three for each triangle.
TN_API int tn_soft_triangles(const tn_world *world, tn_soft_id soft, int *out, int capacity);
/// Sets the positions of all particles, m; `count` must be their number. The body wakes up. If one
/// is bad, none is set.
TN_API bool tn_soft_set_positions(tn_world *world, tn_soft_id soft, const tn_pos *in, int count);
/// Sets the velocities of all particles, m/s; `count` must be their number. The body wakes up. If
/// one is bad, none is set.
TN_API bool tn_soft_set_velocities(tn_world *world, tn_soft_id soft, const tn_vec3 *in, int count);
/// Position of a particle, m. This and all functions for one particle take constant time.
TN_API tn_pos tn_soft_position(const tn_world *world, tn_soft_id soft, int particle);
/// Sets the position of a particle, m. The body wakes up.
TN_API bool tn_soft_set_position(tn_world *world, tn_soft_id soft, int particle, tn_pos position);
/// Velocity of a particle, m/s.
TN_API tn_vec3 tn_soft_velocity(const tn_world *world, tn_soft_id soft, int particle);
/// Sets the velocity of a particle, m/s. The body wakes up.
TN_API bool tn_soft_set_velocity(tn_world *world, tn_soft_id soft, int particle, tn_vec3 velocity);
/// Pins a particle, or lets it go; either stops it. A pinned one moves with the velocity it is
/// given, whatever pulls at it.
TN_API bool tn_soft_set_pinned(tn_world *world, tn_soft_id soft, int particle, bool pinned);
/// Whether a particle is pinned.
TN_API bool tn_soft_is_pinned(const tn_world *world, tn_soft_id soft, int particle);
/// Adds a force on a particle during the next step, N. The body wakes up.
TN_API bool tn_soft_apply_force(tn_world *world, tn_soft_id soft, int particle, tn_vec3 force);

/// Adds forces on particles during the next step. The body wakes up.
///
/// @param world      the world
/// @param soft       the soft body
/// @param particles  `count` particles; null: all of them, in their order
/// @param forces     `count` forces, N
/// @param count      of forces; of all particles if `particles` is null
/// @return false, and none acts, if one of the indices or forces is bad
TN_API bool tn_soft_apply_forces(tn_world *world, tn_soft_id soft, const int *particles,
                                 const tn_vec3 *forces, int count);

/// Energy of a soft body, J.
TN_API tn_energy tn_soft_energy(const tn_world *world, tn_soft_id soft);
/// Momentum of a soft body, angular about a point, m.
TN_API tn_momentum tn_soft_momentum(const tn_world *world, tn_soft_id soft, tn_pos about);
/// Volume that the closed triangles of a soft body enclose, m^3.
TN_API double tn_soft_volume(const tn_world *world, tn_soft_id soft);
/// Sets the pressure, as the volume over that at rest, above 0 and up to 1,000, of a body that was
/// made with one. It wakes up.
TN_API bool tn_soft_set_pressure(tn_world *world, tn_soft_id soft, float pressure);
/// The pressure, as the volume over that at rest; 0: none.
TN_API float tn_soft_pressure(const tn_world *world, tn_soft_id soft);
/// Sets the damping of all motion but that as a rigid body, 1/s, 0 to 1e6.
TN_API bool tn_soft_set_damping(tn_world *world, tn_soft_id soft, float damping);
/// Damping of all motion but that as a rigid body, 1/s.
TN_API float tn_soft_damping(const tn_world *world, tn_soft_id soft);
/// The host's pointer.
TN_API void *tn_soft_user_data(const tn_world *world, tn_soft_id soft);
/// Sets the host's pointer.
TN_API bool tn_soft_set_user_data(tn_world *world, tn_soft_id soft, void *data);
/// Whether a soft body is awake.
TN_API bool tn_soft_is_awake(const tn_world *world, tn_soft_id soft);
/// Wakes a soft body, or puts it to sleep with all that it touches or is attached to.
TN_API bool tn_soft_set_awake(tn_world *world, tn_soft_id soft, bool awake);
/// Lists the contacts of a soft body in the last step; parameters and result as of
/// tn_soft_positions().
TN_API int tn_soft_contacts(const tn_world *world, tn_soft_id soft, tn_soft_contact *contacts,
                            int capacity);

/// The usual definition of an attachment: rigid, does not break.
TN_API tn_attachment_def tn_default_attachment_def(void);

/// Ties a particle to a point of a body or of the world. Both bodies wake up.
///
/// @param world  the world that owns both
/// @param def    from tn_default_attachment_def(); copied
/// @return the new attachment, or a null id if `def` is invalid or there is no memory
TN_API tn_attachment_id tn_attachment_create(tn_world *world, const tn_attachment_def *def);
/// Destroys an attachment. Both bodies wake up.
TN_API bool tn_attachment_destroy(tn_world *world, tn_attachment_id attachment);
/// Whether an id names an attachment of this world that is still there. Logs nothing.
TN_API bool tn_attachment_is_valid(const tn_world *world, tn_attachment_id attachment);
/// Definition of an attachment as it is now.
TN_API tn_attachment_def tn_attachment_get_def(const tn_world *world, tn_attachment_id attachment);
/// Writes the definition of an attachment: everything but its ends can be changed. A broken one
/// stays broken. Both bodies wake up.
TN_API bool tn_attachment_set_def(tn_world *world, tn_attachment_id attachment,
                                  const tn_attachment_def *def);
/// The host's pointer.
TN_API void *tn_attachment_user_data(const tn_world *world, tn_attachment_id attachment);
/// Sets the host's pointer.
TN_API bool tn_attachment_set_user_data(tn_world *world, tn_attachment_id attachment, void *data);
/// Lists the attachments of a world in slot order; parameters and result as of tn_world_bodies().
TN_API int tn_world_attachments(const tn_world *world, tn_attachment_id *ids, int capacity);
/// The end on the body, in its frame, or in the world, m.
TN_API tn_pos tn_attachment_point(const tn_world *world, tn_attachment_id attachment);
/// Moves the end on the body, in its frame, or in the world, m: for dragging.
TN_API bool tn_attachment_set_point(tn_world *world, tn_attachment_id attachment, tn_pos point);
/// What an attachment does now: force and length.
TN_API tn_attachment_state tn_attachment_get_state(const tn_world *world,
                                                   tn_attachment_id attachment);

// ---------------------------------------------------------------------------------------------
// Meshes for soft bodies. Each fills in the arrays of `def`, from the heap of the C library, and
// nothing else; give them back with tn_soft_mesh_free() once the body is made. Lengths are from
// 1e-9 to 1e9 m, vertices at most 10,000,000. False, and `def` unchanged, for other sizes, for
// vertices that are not finite, for indices of no vertex and without memory.

/// A cloth in the xz plane about the origin, with edges along both directions and across.
///
/// @param def      filled in
/// @param columns  vertices along x, 2 or more; vertex row * columns + column
/// @param rows     vertices along z, 2 or more
/// @param size_x   m
/// @param size_z   m
/// @return false for bad sizes or without memory
TN_API bool tn_soft_mesh_cloth(tn_soft_def *def, int columns, int rows, float size_x, float size_z);
/// A rope of `length` m along x from the origin.
TN_API bool tn_soft_mesh_rope(tn_soft_def *def, int segments, float length);
/// A box about the origin of cells[] cells along each axis: hexahedra, or five or six tetrahedra
/// each.
TN_API bool tn_soft_mesh_box(tn_soft_def *def, const int cells[3], tn_vec3 half_extents,
                             bool tetrahedra);
/// A ball of `radius` m about the origin: a box of `cells` cells a side, rounded.
TN_API bool tn_soft_mesh_ball(tn_soft_def *def, int cells, float radius, bool tetrahedra);
/// A thick tube about the z axis; cells around, across its wall, along; lengths in m.
TN_API bool tn_soft_mesh_tube(tn_soft_def *def, const int cells[3], float inner_radius,
                              float outer_radius, float half_length);
/// A closed surface of 20 * 4^level triangles, of `radius` m about the origin: a balloon.
TN_API bool tn_soft_mesh_sphere(tn_soft_def *def, int level, float radius);
/// Cloth of any triangles; edges are found. `def` keeps no pointer to the arrays.
TN_API bool tn_soft_mesh_triangles(tn_soft_def *def, const tn_vec3 *vertices, int vertex_count,
                                   const int *triangles, int triangle_count);

/// Cells that fill a closed surface; their outside is drawn to the surface. Parts thinner than
/// about a quarter of a cell are lost.
///
/// @param def             filled in; keeps no pointer to the arrays
/// @param vertices        of the surface, m
/// @param vertex_count    number of vertices
/// @param triangles       three vertices each, counter-clockwise from outside
/// @param triangle_count  number of triangles
/// @param cell            size of a cell, m
/// @param tetrahedra      five for each cell; false: hexahedra
/// @return false as well if the surface is open, or nothing of it fills a cell
TN_API bool tn_soft_mesh_solid(tn_soft_def *def, const tn_vec3 *vertices, int vertex_count,
                               const int *triangles, int triangle_count, float cell,
                               bool tetrahedra);
/// Adds tethers from every vertex to the closest of the anchors, as long as the way along the
/// edges: what hangs on pinned anchors does not stretch, however few the substeps. `def` must have
/// none yet.
TN_API bool tn_soft_mesh_tethers(tn_soft_def *def, const int *anchors, int anchor_count);
/// Gives back the arrays of a tn_soft_mesh_* function: vertices, elements and tethers.
TN_API void tn_soft_mesh_free(tn_soft_def *def);

/// Binds a fine surface to the elements of a soft body: every vertex to the tetrahedron or
/// hexahedron it is in or next to, or to the nearest triangle of a body without these.
///
/// @param skin            filled in; for tn_soft_skin_free()
/// @param def             of the soft body, with its arrays
/// @param vertices        of the surface, in the frame of the definition, m
/// @param vertex_count    number of vertices
/// @param triangles       three vertices each; copied
/// @param triangle_count  number of triangles
/// @return false for bad input or without memory
TN_API bool tn_soft_skin_bind(tn_soft_skin *skin, const tn_soft_def *def, const tn_vec3 *vertices,
                              int vertex_count, const int *triangles, int triangle_count);

/// Where the vertices of a skin are now.
///
/// @param world      the world
/// @param soft       the soft body that the skin was bound to
/// @param skin       from tn_soft_skin_bind()
/// @param positions  m, of all vertices; written
/// @param normals    unit, of all vertices; written unless null
/// @return false for bad input
TN_API bool tn_soft_skin_read(const tn_world *world, tn_soft_id soft, const tn_soft_skin *skin,
                              tn_pos *positions, tn_vec3 *normals);
/// Gives back the memory of a skin.
TN_API void tn_soft_skin_free(tn_soft_skin *skin);

// ---------------------------------------------------------------------------------------------
// Frames of bodies

/// Converts a point of a body's frame to the world.
///
/// @param local  m, in the body's frame, within TN_MAX_DISTANCE of its origin
/// @return where the point is, m; zeros, with the reason in the log, for a bad id or point
TN_API tn_pos tn_body_world_point(const tn_world *world, tn_body_id body, tn_vec3 local);

/// Converts a point of the world to a body's frame.
///
/// The difference to the body is taken in double: the result is as precise anywhere in the world.
///
/// @param point  m, within TN_MAX_DISTANCE
/// @return the point in the body's frame, m;
///         zeros, with the reason in the log, for a bad id or point
TN_API tn_vec3 tn_body_local_point(const tn_world *world, tn_body_id body, tn_pos point);

/// Turns a vector of a body's frame to world axes; its length stays.
///
/// @param local  of any unit, finite
/// @return the vector; zeros, with the reason in the log, for a bad id or vector
TN_API tn_vec3 tn_body_world_vector(const tn_world *world, tn_body_id body, tn_vec3 local);

/// Turns a vector in world axes to a body's frame; its length stays.
///
/// @param vector  of any unit, finite
/// @return the vector; zeros, with the reason in the log, for a bad id or vector
TN_API tn_vec3 tn_body_local_vector(const tn_world *world, tn_body_id body, tn_vec3 vector);

/// Principal moments and axes of an inertia, as the world uses them.
///
/// @param mass  as of tn_body_mass(); only the inertia counts
/// @return zero moments and no rotation if the inertia is not finite
TN_API tn_principal_axes tn_mass_principal_axes(tn_mass mass);

// ---------------------------------------------------------------------------------------------
// Shapes as they were built: for drawing, for other engines, for tests

/// Lists all shapes of a world, those of the world itself included, in slot order.
///
/// @param ids       filled in, up to `capacity`; may be null if that is 0
/// @param capacity  room in `ids`
/// @return how many there are, which may be more than fit; 0 for a null world
TN_API int tn_world_shapes(const tn_world *world, tn_shape_id *ids, int capacity);

/// Reads the corners of a convex hull, which are fewer than its points where it was simplified.
///
/// @param geometry  from tn_hull_create()
/// @param vertices  m, in the shape's frame; filled in, up to `capacity`; may be null if that is 0
/// @param capacity  room in `vertices`
/// @return how many there are; 0, with the reason in the log, if the geometry is not valid or not a
///         hull
TN_API int tn_hull_vertices(const tn_world *world, tn_geometry_id geometry, tn_vec3 *vertices,
                            int capacity);

/// Reads the faces of a convex hull: planes, and ranges of the list of tn_hull_indices().
///
/// Parameters and result as of tn_hull_vertices().
TN_API int tn_hull_faces(const tn_world *world, tn_geometry_id geometry, tn_hull_face *faces,
                         int capacity);

/// Reads the corners of a hull's faces, face after face, counter-clockwise from outside, as numbers
/// of tn_hull_vertices().
///
/// Parameters and result as of tn_hull_vertices().
TN_API int tn_hull_indices(const tn_world *world, tn_geometry_id geometry, int *indices,
                           int capacity);

/// Point of a wire's axis, in the shape's frame, and its derivative by the parameter.
///
/// @param geometry   from tn_wire_create()
/// @param parameter  grows by one from point to point, from 0 to the number of cubics:
///                   one less than the points, or as many if the wire is closed;
///                   taken to the nearer end beyond
/// @return position and tangent, m; zeros, with the reason in the log, if the geometry is not valid
///         or not a wire, or the parameter is not a number
TN_API tn_wire_point tn_wire_at(const tn_world *world, tn_geometry_id geometry, float parameter);

/// Radius of a soft body's particles, m: how far surfaces stay away from them.
///
/// @return 0, with the reason in the log, for a bad id
TN_API float tn_soft_radius(const tn_world *world, tn_soft_id soft);

/// The values that two materials have in contact.
///
/// Frictions, restitution and compliance are combined as the manual's chapter on materials says,
/// and the combine modes are those that were used. The surface velocity is zero: it depends on how
/// the bodies lie.
///
/// @param a, b  valid materials, only read
/// @return the combined values, the same for either order; all zero if one of the pointers is null
TN_API tn_material tn_materials_combine(const tn_material *a, const tn_material *b);

/// Whether shapes with these filters collide, as far as filters decide: see tn_filter.
///
/// @param a, b  only read
/// @return the same for either order; false if one of the pointers is null
TN_API bool tn_filters_collide(const tn_filter *a, const tn_filter *b);

/// Finds the contacts of bodies as they stand, without a step.
///
/// For worlds whose bodies were moved by calls: tn_world_contacts() then tells what touches now,
/// with the forces of the last step. No time passes and no pose or velocity changes. Bodies that an
/// awake body touches wake up; events are published with the next step. Contacts of soft bodies
/// stay those of the last step.
///
/// @return false for a null world, and when out of memory
TN_API bool tn_world_update_contacts(tn_world *world);

#ifdef __cplusplus
}
#endif

#endif
