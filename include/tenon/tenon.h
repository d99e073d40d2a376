// Tenon: rigid bodies and joints by substepped extended position based dynamics.
//
// A world owns everything. Bodies and joints are named by ids. A call that cannot be carried out
// changes nothing, says why through the world's log callback, and returns a null id, false or a
// zeroed value. Calls on one world must not run at the same time; different worlds are
// independent.
#ifndef TENON_TENON_H
#define TENON_TENON_H

#include "bulk.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// World

TN_API tn_world_def tn_default_world_def(void);
TN_API tn_world *tn_world_create(const tn_world_def *def);
TN_API void tn_world_destroy(tn_world *world);

// Advances by `dt` seconds; returns tn_step_status bits.
TN_API uint32_t tn_world_step(tn_world *world, float dt);

TN_API bool tn_world_set_gravity(tn_world *world, tn_vec3 gravity);
TN_API tn_vec3 tn_world_gravity(const tn_world *world);
TN_API bool tn_world_set_method(tn_world *world, tn_method method);
TN_API tn_method tn_world_method(const tn_world *world);
TN_API bool tn_world_set_substeps(tn_world *world, int substeps, int iterations);
TN_API int tn_world_substeps(const tn_world *world);
// Substeps that give a scene with things of `size` m (the smaller ones that matter), under
// `gravity` m/s^2 and in steps of `dt` s, the quality that `quality` means. How much contacts
// yield, relative to the size, goes as gravity h^2 / size with h the length of a substep. 0 for bad
// arguments.
TN_API int tn_substeps_for(tn_quality quality, float gravity, float size, float dt);
TN_API int tn_world_iterations(const tn_world *world);
TN_API int tn_world_lanes(const tn_world *world);
TN_API tn_counters tn_world_counters(const tn_world *world);
// All zero without a clock in the definition.
TN_API tn_profile tn_world_profile(const tn_world *world);

// Writes up to `capacity` live ids in slot order; returns how many there are.
TN_API int tn_world_bodies(const tn_world *world, tn_body_id *ids, int capacity);
TN_API int tn_world_joints(const tn_world *world, tn_joint_id *ids, int capacity);

// Joints that broke in the last step; valid until the next.
TN_API const tn_joint_break_event *tn_world_joint_breaks(const tn_world *world, int *count);

// What happened to contacts and sleep in the last step; valid until the next.
TN_API const tn_contact_event *tn_world_contact_events(const tn_world *world, int *count);
TN_API const tn_sleep_event *tn_world_sleep_events(const tn_world *world, int *count);
TN_API const tn_soft_event *tn_world_soft_events(const tn_world *world, int *count);

// Writes up to `capacity` contacts that touch or nearly; returns how many there are.
TN_API int tn_world_contacts(const tn_world *world, tn_contact *contacts, int capacity);
TN_API int tn_body_contacts(const tn_world *world, tn_body_id body, tn_contact *contacts,
                            int capacity);

// Decides about pairs besides the shapes' filters; null for none. Holds for pairs that form later.
TN_API bool tn_world_set_pair_filter(tn_world *world, tn_pair_filter_fn *filter, void *context);

// Off wakes every body.
TN_API bool tn_world_set_sleeping(tn_world *world, bool sleeping);

// A fingerprint of the whole state, with all that decides how it goes on: settings, forces and
// targets for the next step. Equal states have equal hashes on every machine, for every lane width
// and number of threads.
TN_API uint64_t tn_world_hash(const tn_world *world);

// The exact state as bytes. Save returns the size needed and writes only if `capacity` suffices.
// Restore replaces everything in `world`, or changes nothing and returns false; ids taken before
// the save are valid again, ids made after it are not: what is created after the restore gets the
// same ids once more, so that a replay finds them equal. The bytes are for the same version and
// machine type.
TN_API size_t tn_world_save(const tn_world *world, void *buffer, size_t capacity);
TN_API bool tn_world_restore(tn_world *world, const void *buffer, size_t size);

// Energy of all dynamic bodies and the joints' springs; potential energy is zero at the origin.
TN_API tn_energy tn_world_energy(const tn_world *world);
TN_API tn_momentum tn_world_momentum(const tn_world *world, tn_pos about);
// The same for a set of bodies, with the springs whose moving ends are all in the set; each body
// counts once.
TN_API tn_energy tn_bodies_energy(const tn_world *world, const tn_body_id *ids, int count);
TN_API tn_momentum tn_bodies_momentum(const tn_world *world, const tn_body_id *ids, int count,
                                      tn_pos about);

// ---------------------------------------------------------------------------------------------
// Mass properties of solids, for tn_body_def. A zeroed tn_mass means bad input, explained on
// stderr.

TN_API tn_mass tn_mass_sphere(float radius, float density);
TN_API tn_mass tn_mass_box(tn_vec3 half_extents, float density);
// Along the y axis; half_length is that of the straight part.
TN_API tn_mass tn_mass_capsule(float radius, float half_length, float density);
TN_API tn_mass tn_mass_cylinder(float radius, float half_length, float density);
// Base at -half_length, tip at +half_length.
TN_API tn_mass tn_mass_cone(float radius, float half_length, float density);
// Solid convex hull of the points.
TN_API tn_mass tn_mass_hull(const tn_vec3 *points, int count, float density);
// Closed mesh with triangles counter-clockwise from outside, after Blow and Binstock.
TN_API tn_mass tn_mass_mesh(const tn_vec3 *vertices, int vertex_count, const int *triangles,
                            int triangle_count, float density);
// A solid moved to a place in the body's frame.
TN_API tn_mass tn_mass_at(tn_mass mass, tn_vec3 position, tn_quat rotation);
// Several solids as one.
TN_API tn_mass tn_mass_compound(const tn_mass *parts, int count);
// The same distribution with another total.
TN_API tn_mass tn_mass_scaled_to(tn_mass mass, float total);

// ---------------------------------------------------------------------------------------------
// Bodies

TN_API tn_body_def tn_default_body_def(void);
TN_API tn_body_id tn_body_create(tn_world *world, const tn_body_def *def);
// Destroys the body's joints as well.
TN_API bool tn_body_destroy(tn_world *world, tn_body_id body);
TN_API bool tn_body_is_valid(const tn_world *world, tn_body_id body);

TN_API tn_body_type tn_body_get_type(const tn_world *world, tn_body_id body);
TN_API bool tn_body_set_type(tn_world *world, tn_body_id body, tn_body_type type);

TN_API tn_transform tn_body_transform(const tn_world *world, tn_body_id body);
TN_API tn_pos tn_body_position(const tn_world *world, tn_body_id body);
TN_API tn_quat tn_body_rotation(const tn_world *world, tn_body_id body);
TN_API tn_pos tn_body_center(const tn_world *world, tn_body_id body);
TN_API bool tn_body_set_transform(tn_world *world, tn_body_id body, tn_transform transform);
// Velocity of the body's point that is at `point` of the world. Points and vectors of a body's
// frame are converted by the functions at the end of this file.
TN_API tn_vec3 tn_body_point_velocity(const tn_world *world, tn_body_id body, tn_pos point);

TN_API tn_vec3 tn_body_velocity(const tn_world *world, tn_body_id body);
TN_API tn_vec3 tn_body_angular_velocity(const tn_world *world, tn_body_id body);
TN_API bool tn_body_set_velocity(tn_world *world, tn_body_id body, tn_vec3 velocity);
TN_API bool tn_body_set_angular_velocity(tn_world *world, tn_body_id body, tn_vec3 velocity);
// Moves a kinematic body so that the next step ends at `target`; afterwards it stands.
TN_API bool tn_body_move_to(tn_world *world, tn_body_id body, tn_transform target);

// Forces and torques act during the next step, impulses at once.
TN_API bool tn_body_apply_force(tn_world *world, tn_body_id body, tn_vec3 force, tn_pos point);
TN_API bool tn_body_apply_force_to_center(tn_world *world, tn_body_id body, tn_vec3 force);
TN_API bool tn_body_apply_torque(tn_world *world, tn_body_id body, tn_vec3 torque);
TN_API bool tn_body_apply_impulse(tn_world *world, tn_body_id body, tn_vec3 impulse, tn_pos point);
TN_API bool tn_body_apply_angular_impulse(tn_world *world, tn_body_id body, tn_vec3 impulse);

TN_API tn_mass tn_body_mass(const tn_world *world, tn_body_id body);
TN_API bool tn_body_set_mass(tn_world *world, tn_body_id body, tn_mass mass);
TN_API bool tn_body_set_gravity_scale(tn_world *world, tn_body_id body, float scale);
TN_API float tn_body_gravity_scale(const tn_world *world, tn_body_id body);
TN_API bool tn_body_set_damping(tn_world *world, tn_body_id body, float linear, float angular);
TN_API bool tn_body_set_speed_limits(tn_world *world, tn_body_id body, float linear, float angular);
TN_API void *tn_body_user_data(const tn_world *world, tn_body_id body);
TN_API bool tn_body_set_user_data(tn_world *world, tn_body_id body, void *data);
TN_API const char *tn_body_name(const tn_world *world, tn_body_id body);
TN_API bool tn_body_set_name(tn_world *world, tn_body_id body, const char *name);
// Writes up to `capacity` ids of the body's joints; returns how many there are.
TN_API int tn_body_joints(const tn_world *world, tn_body_id body, tn_joint_id *ids, int capacity);

// A sleeping body does not move until something touches it or its velocity, pose, forces, shapes
// or joints are changed. Putting one to sleep does so to all that it touches or is joined to.
TN_API bool tn_body_is_awake(const tn_world *world, tn_body_id body);
TN_API bool tn_body_set_awake(tn_world *world, tn_body_id body, bool awake);
TN_API bool tn_body_set_can_sleep(tn_world *world, tn_body_id body, bool can_sleep);

// Mass of the body's shapes by their densities; sensors and surfaces without volume have none.
TN_API bool tn_body_set_mass_from_shapes(tn_world *world, tn_body_id body);
// Writes up to `capacity` ids of the body's shapes, those of the world for a null body; returns how
// many there are.
TN_API int tn_body_shapes(const tn_world *world, tn_body_id body, tn_shape_id *ids, int capacity);

// ---------------------------------------------------------------------------------------------
// Shapes

// Data that several shapes may share. The world copies what it is given. Destroying is refused
// while a shape uses it.
// Convex hull of the points, simplified to `max_vertices` (4 to 255; 0 takes 64) from inside.
TN_API tn_geometry_id tn_hull_create(tn_world *world, const tn_vec3 *points, int count,
                                     int max_vertices);
// Triangles are solid from both sides; counter-clockwise from outside gives the normal.
TN_API tn_geometry_id tn_mesh_create(tn_world *world, const tn_vec3 *vertices, int vertex_count,
                                     const int *triangles, int triangle_count);
// heights[row * columns + column] above the point (column * spacing_x, row * spacing_z), centred on
// the origin; solid below.
TN_API tn_geometry_id tn_height_field_create(tn_world *world, const float *heights, int columns,
                                             int rows, float spacing_x, float spacing_z);
TN_API tn_geometry_id tn_wire_create(tn_world *world, const tn_wire_point *points, int count,
                                     bool closed);
TN_API bool tn_geometry_destroy(tn_world *world, tn_geometry_id geometry);
TN_API tn_geometry_source tn_geometry_get(const tn_world *world, tn_geometry_id geometry);

TN_API tn_material tn_default_material(void);
TN_API tn_shape_def tn_default_shape_def(tn_shape_kind kind);
// A null body is the world.
TN_API tn_shape_id tn_shape_create(tn_world *world, tn_body_id body, const tn_shape_def *def);
TN_API bool tn_shape_destroy(tn_world *world, tn_shape_id shape);
TN_API bool tn_shape_is_valid(const tn_world *world, tn_shape_id shape);
TN_API tn_shape_def tn_shape_get(const tn_world *world, tn_shape_id shape);
TN_API tn_body_id tn_shape_body(const tn_world *world, tn_shape_id shape);
TN_API bool tn_shape_set_material(tn_world *world, tn_shape_id shape, tn_material material);
TN_API bool tn_shape_set_filter(tn_world *world, tn_shape_id shape, tn_filter filter);
// The box around the shape as it stands, along the world's axes.
TN_API bool tn_shape_box(const tn_world *world, tn_shape_id shape, tn_pos *lower, tn_pos *upper);

// ---------------------------------------------------------------------------------------------
// Queries: what is where. They change nothing and may run on several threads between steps.

TN_API tn_query_filter tn_default_query_filter(void);
// The closest hit along the way from `from` to `from + way`.
TN_API tn_hit tn_world_ray(const tn_world *world, tn_pos from, tn_vec3 way, tn_query_filter filter);
TN_API void tn_world_rays(const tn_world *world, const tn_pos *from, const tn_vec3 *way, int count,
                          tn_query_filter filter, tn_hit *hits);
TN_API void tn_world_ray_all(const tn_world *world, tn_pos from, tn_vec3 way,
                             tn_query_filter filter, tn_hit_fn *hit, void *context);
// A sphere, capsule, box, cylinder, cone or hull (`def`: kind, sizes, geometry; its place in the
// body's frame does not count) at a place, moved by `way`.
TN_API tn_hit tn_world_cast(const tn_world *world, const tn_shape_def *def, tn_transform at,
                            tn_vec3 way, tn_query_filter filter);
TN_API void tn_world_cast_all(const tn_world *world, const tn_shape_def *def, tn_transform at,
                              tn_vec3 way, tn_query_filter filter, tn_hit_fn *hit, void *context);
// Shapes that overlap the given one, or a box along the world's axes; returns how many.
TN_API int tn_world_overlap(const tn_world *world, const tn_shape_def *def, tn_transform at,
                            tn_query_filter filter, tn_shape_id *shapes, int capacity);
TN_API int tn_world_overlap_box(const tn_world *world, tn_pos lower, tn_pos upper,
                                tn_query_filter filter, tn_shape_id *shapes, int capacity);
// Soft bodies whose triangles the solid touches, or particles where there are none, or whose closed
// surface has it inside; in slot order.
TN_API int tn_world_overlap_softs(const tn_world *world, const tn_shape_def *def, tn_transform at,
                                  tn_query_filter filter, tn_soft_id *softs, int capacity);
// The surface point closest to `point` within `distance`; inside a shape its distance is negative.
TN_API tn_hit tn_world_closest_point(const tn_world *world, tn_pos point, float distance,
                                     tn_query_filter filter);

TN_API tn_debug_draw tn_default_debug_draw(void);
TN_API void tn_world_draw(const tn_world *world, const tn_debug_draw *draw);

// ---------------------------------------------------------------------------------------------
// Joints

TN_API tn_joint_def tn_default_joint_def(tn_joint_kind kind);
// Fills in both frames of `def` so that they meet at a point of the world, with axis a along
// `axis`, as the bodies stand now.
TN_API bool tn_joint_def_at(const tn_world *world, tn_joint_def *def, tn_pos point, tn_vec3 axis);
// The same with a point for each body and axis a from one to the other; a distance joint takes its
// length from them.
TN_API bool tn_joint_def_between(const tn_world *world, tn_joint_def *def, tn_pos point_a,
                                 tn_pos point_b);
TN_API tn_joint_id tn_joint_create(tn_world *world, const tn_joint_def *def);
TN_API bool tn_joint_destroy(tn_world *world, tn_joint_id joint);
TN_API bool tn_joint_is_valid(const tn_world *world, tn_joint_id joint);

// Everything but kind and bodies can be changed at any time.
TN_API tn_joint_def tn_joint_get(const tn_world *world, tn_joint_id joint);
TN_API bool tn_joint_set(tn_world *world, tn_joint_id joint, const tn_joint_def *def);
// The two that change every frame, and the switch; enabling mends a broken joint.
TN_API bool tn_joint_drive_linear(tn_world *world, tn_joint_id joint, tn_drive drive);
TN_API bool tn_joint_drive_angular(tn_world *world, tn_joint_id joint, tn_drive drive);
TN_API bool tn_joint_enable(tn_world *world, tn_joint_id joint, bool enabled);
// Moves the end that is fixed to the world, for dragging.
TN_API bool tn_joint_set_anchor(tn_world *world, tn_joint_id joint, tn_pos position);

TN_API tn_joint_state tn_joint_read(const tn_world *world, tn_joint_id joint);

// Inverse kinematics: moves the body, and all that joints connect it with, so that its frame comes
// as close to the target as joints and limits allow. No time passes: velocities stay as they are,
// drives, friction and contacts have no part in it.
TN_API tn_reach_def tn_default_reach_def(void);
TN_API tn_reach_result tn_world_reach(tn_world *world, const tn_reach_def *def);

// ---------------------------------------------------------------------------------------------
// Soft bodies

TN_API tn_soft_def tn_default_soft_def(void);
TN_API tn_soft_id tn_soft_create(tn_world *world, const tn_soft_def *def);
// Destroys its attachments as well.
TN_API bool tn_soft_destroy(tn_world *world, tn_soft_id soft);
TN_API bool tn_soft_is_valid(const tn_world *world, tn_soft_id soft);
// Writes up to `capacity` live ids in slot order; returns how many there are.
TN_API int tn_world_softs(const tn_world *world, tn_soft_id *ids, int capacity);

// Particles are in the order of the definition's vertices. The functions that read write up to
// `capacity` and return how many there are; those that write want all of them.
TN_API int tn_soft_positions(const tn_world *world, tn_soft_id soft, tn_pos *out, int capacity);
TN_API int tn_soft_velocities(const tn_world *world, tn_soft_id soft, tn_vec3 *out, int capacity);
TN_API int tn_soft_masses(const tn_world *world, tn_soft_id soft, float *out, int capacity);
TN_API int tn_soft_triangles(const tn_world *world, tn_soft_id soft, int *out, int capacity);
TN_API bool tn_soft_set_positions(tn_world *world, tn_soft_id soft, const tn_pos *in, int count);
TN_API bool tn_soft_set_velocities(tn_world *world, tn_soft_id soft, const tn_vec3 *in, int count);
TN_API tn_pos tn_soft_position(const tn_world *world, tn_soft_id soft, int particle);
TN_API bool tn_soft_set_position(tn_world *world, tn_soft_id soft, int particle, tn_pos position);
TN_API bool tn_soft_set_velocity(tn_world *world, tn_soft_id soft, int particle, tn_vec3 velocity);
// A pinned particle moves with the velocity it is given, whatever pulls at it.
TN_API bool tn_soft_pin(tn_world *world, tn_soft_id soft, int particle, bool pinned);
TN_API bool tn_soft_is_pinned(const tn_world *world, tn_soft_id soft, int particle);
// Acts during the next step. Forces on the same particle add up. The functions for one particle
// take constant time.
TN_API bool tn_soft_apply_force(tn_world *world, tn_soft_id soft, int particle, tn_vec3 force);
// The same for `count` particles; `particles` null: for all of them, in their order. If one of the
// indices or forces is bad, none acts.
TN_API bool tn_soft_apply_forces(tn_world *world, tn_soft_id soft, const int *particles,
                                 const tn_vec3 *forces, int count);

TN_API tn_energy tn_soft_energy(const tn_world *world, tn_soft_id soft);
TN_API tn_momentum tn_soft_momentum(const tn_world *world, tn_soft_id soft, tn_pos about);
// What its closed triangles enclose, m^3.
TN_API double tn_soft_volume(const tn_world *world, tn_soft_id soft);
TN_API bool tn_soft_set_pressure(tn_world *world, tn_soft_id soft, float pressure);
TN_API bool tn_soft_set_damping(tn_world *world, tn_soft_id soft, float damping);
TN_API void *tn_soft_user_data(const tn_world *world, tn_soft_id soft);
TN_API bool tn_soft_is_awake(const tn_world *world, tn_soft_id soft);
TN_API bool tn_soft_set_awake(tn_world *world, tn_soft_id soft, bool awake);
// Writes up to `capacity` contacts of the last step; returns how many there are.
TN_API int tn_soft_contacts(const tn_world *world, tn_soft_id soft, tn_soft_contact *contacts,
                            int capacity);

TN_API tn_attachment_def tn_default_attachment_def(void);
TN_API tn_attachment_id tn_attachment_create(tn_world *world, const tn_attachment_def *def);
TN_API bool tn_attachment_destroy(tn_world *world, tn_attachment_id attachment);
TN_API bool tn_attachment_is_valid(const tn_world *world, tn_attachment_id attachment);
TN_API tn_attachment_def tn_attachment_get(const tn_world *world, tn_attachment_id attachment);
// Writes up to `capacity` live ids in slot order; returns how many there are.
TN_API int tn_world_attachments(const tn_world *world, tn_attachment_id *ids, int capacity);
// Moves the end on the body, or in the world: for dragging.
TN_API bool tn_attachment_set_point(tn_world *world, tn_attachment_id attachment, tn_pos point);
TN_API tn_attachment_state tn_attachment_read(const tn_world *world, tn_attachment_id attachment);

// ---------------------------------------------------------------------------------------------
// Meshes for soft bodies. Each fills in the arrays of `def`, from the C library's heap, and nothing
// else; give them back with tn_soft_mesh_free once the body is made. Lengths are from 1e-9 to 1e9
// m, vertices at most 10,000,000. False, and `def` unchanged, for other sizes, for vertices that
// are not finite and for indices of no vertex.

// columns x rows vertices in the xz plane about the origin, `size_x` by `size_z`; edges along both
// directions and across. Vertex row * columns + column.
TN_API bool tn_soft_mesh_cloth(tn_soft_def *def, int columns, int rows, float size_x, float size_z);
// Along x from the origin.
TN_API bool tn_soft_mesh_rope(tn_soft_def *def, int segments, float length);
// cells[] cells along each axis, about the origin: hexahedra, or five or six tetrahedra each.
TN_API bool tn_soft_mesh_box(tn_soft_def *def, const int cells[3], tn_vec3 half_extents,
                             bool tetrahedra);
// A box of n cells a side, rounded.
TN_API bool tn_soft_mesh_ball(tn_soft_def *def, int cells, float radius, bool tetrahedra);
// A thick tube about the z axis: cells around, across its wall, along.
TN_API bool tn_soft_mesh_tube(tn_soft_def *def, const int cells[3], float inner_radius,
                              float outer_radius, float half_length);
// A closed surface of 20 * 4^level triangles.
TN_API bool tn_soft_mesh_sphere(tn_soft_def *def, int level, float radius);
// Cloth of any triangles; edges are found. `def` keeps no pointer to them.
TN_API bool tn_soft_mesh_triangles(tn_soft_def *def, const tn_vec3 *vertices, int vertex_count,
                                   const int *triangles, int triangle_count);
// Cells of the given size that fill a closed surface, as hexahedra or five tetrahedra each; their
// outside is drawn to the surface. Parts thinner than about a quarter of a cell are lost. False as
// well if the surface is open, or nothing of it fills a cell.
TN_API bool tn_soft_mesh_solid(tn_soft_def *def, const tn_vec3 *vertices, int vertex_count,
                               const int *triangles, int triangle_count, float cell,
                               bool tetrahedra);
// Tethers from every vertex to the closest of the anchors, as long as the way along the edges: what
// hangs on pinned anchors does not stretch, however few the substeps. `def` must have none yet.
TN_API bool tn_soft_mesh_tethers(tn_soft_def *def, const int *anchors, int anchor_count);
// Vertices, elements and tethers.
TN_API void tn_soft_mesh_free(tn_soft_def *def);

// Binds every vertex of a fine surface, in the definition's frame, to the tetrahedron or hexahedron
// it is in or next to, or to the nearest triangle of a body without these. False for bad input.
TN_API bool tn_soft_skin_bind(tn_soft_skin *skin, const tn_soft_def *def, const tn_vec3 *vertices,
                              int vertex_count, const int *triangles, int triangle_count);
// Where its vertices are now, and their normals unless `normals` is null; room for all of them.
TN_API bool tn_soft_skin_read(const tn_world *world, tn_soft_id soft, const tn_soft_skin *skin,
                              tn_pos *positions, tn_vec3 *normals);
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

/// Damping of a body's linear or angular velocity.
///
/// @return 1/s; 0, with the reason in the log, for a bad id
TN_API float tn_body_linear_damping(const tn_world *world, tn_body_id body);
TN_API float tn_body_angular_damping(const tn_world *world, tn_body_id body);

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
