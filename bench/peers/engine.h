// Input and interface of an engine.
#ifndef TENON_PEERS_ENGINE_H
#define TENON_PEERS_ENGINE_H

#include "peer.h"

#ifdef __cplusplus
extern "C" {
#endif

// Position and rotation (x y z w), in double: peers differ in precision.
typedef struct peer_pose {
  double p[3], q[4];
} peer_pose;

typedef struct peer_hull {
  tn_vec3 *points;
  double *planes; // normal and offset of each face
  unsigned int
      *polygons; // for each face the number of its points and the points, counter-clockwise
  int point_count, plane_count;
} peer_hull;

// A body's frame is its inertia frame: centre of mass and principal axes.
typedef struct peer_shape {
  tn_shape_def def;
  peer_pose at; // in the body's inertia frame
  peer_hull hull;
} peer_shape;

typedef struct peer_body {
  tn_body_id id; // null: the world
  bool dynamic;
  peer_pose mass_frame; // in the body's frame
  peer_pose pose;       // of the inertia frame, in the world
  double mass, moments[3];
  tn_vec3 velocity, angular_velocity;
  float gravity_scale, linear_damping, angular_damping;
  peer_shape *shapes;
  int shape_count;
} peer_body;

typedef struct peer_joint {
  tn_joint_def def;
  int body[2];         // index, or -1: the world
  peer_pose frame[2];  // in the bodies' inertia frames, or the world
  double angle, error; // of a hinge; initial gap, m
} peer_joint;

typedef struct peer_scene {
  tn_vec3 gravity;
  peer_body *bodies;
  peer_joint *joints;
  int body_count, joint_count;
  bool has_filters; // some pairs of shapes do not collide
} peer_scene;

// Combined values of two materials.
typedef struct peer_surface {
  float friction, restitution, rolling, spinning;
} peer_surface;

peer_surface peer_surface_of(const tn_material *a, const tn_material *b);
bool peer_shapes_collide(const tn_shape_def *a, const tn_shape_def *b);
peer_pose peer_pose_mul(const peer_pose *a, const peer_pose *b);
void peer_rotate(const double q[4], const double v[3], double out[3]);

// Message of an engine: why it does not support a scene, or what it omits.
typedef struct peer_text {
  char *text;
  size_t size;
} peer_text;

void peer_say(peer_text *to, const char *text);

typedef struct peer_engine {
  const char *name, *description;
  // Keeps a pointer to the scene; null if the scene is not supported.
  void *(*create)(const peer_scene *scene, peer_settings settings, peer_text *why,
                  peer_text *omitted);
  void (*destroy)(void *engine);
  void (*step)(void *engine, double dt);
  void (*read)(const void *engine, int body, peer_pose *pose, double velocity[3],
               double angular_velocity[3]);
  int (*contact_points)(const void *engine);
} peer_engine;

#ifdef TENON_PEER_BULLET
extern const peer_engine peer_bullet;
#endif
#ifdef TENON_PEER_ODE
extern const peer_engine peer_ode;
#endif

#ifdef __cplusplus
}
#endif

#endif
