// Other engines beside Tenon. A world, as the scenes build it, is translated into the engine's own,
// with the same masses, shapes, joints, friction and gravity; after some steps its poses and
// velocities are written back, so that everything that measures a Tenon world measures the peer.
//
// An engine is there if it was found when this was built. What it cannot take is refused with a
// reason.
#ifndef TENON_PEERS_PEER_H
#define TENON_PEERS_PEER_H

#include <tenon/tenon.h>

typedef struct peer peer;

typedef struct peer_settings {
  int substeps;   // 1 is what the engines do by themselves
  int iterations; // of their solvers; 0 is their default
  bool sleeping;  // bodies at rest may sleep, as the engines do by themselves
} peer_settings;

int peer_count(void);
const char *peer_name(int index);
// Version, precision and solver; null if there is no such engine.
const char *peer_describe(const char *name);

// On one thread. Null if the world cannot be translated, with the reason in `why`.
peer *peer_create(const char *name, const tn_world *world, peer_settings settings, char *why,
                  size_t size);
void peer_destroy(peer *p);

void peer_step(peer *p, float dt);
// What the translation left out; empty if nothing.
const char *peer_omissions(const peer *p);
// Points at which bodies touch or nearly.
int peer_contact_points(const peer *p);

typedef struct peer_state {
  tn_transform pose; // of the body's frame, as tn_body_transform
  tn_vec3 velocity;  // of the centre of mass
  tn_vec3 angular_velocity;
} peer_state;

// Zeroed for a body that was not there when the peer was made.
peer_state peer_read(const peer *p, tn_body_id body);
// Puts all bodies of the world that the peer was made from where the peer has them, and finds their
// contacts there, without stepping. False if a state is not finite, or without memory.
bool peer_show(const peer *p, tn_world *world);

#endif
