// Other engines for comparison. A world built by a scene is converted to the engine's own, with the
// same masses, shapes, joints, friction and gravity; after some steps its poses and velocities are
// written back, so that the metrics of a Tenon world apply to the peer.
//
// An engine is available if it was found at build time. Unsupported scenes are rejected with a
// reason.
#ifndef TENON_PEERS_PEER_H
#define TENON_PEERS_PEER_H

#include <tenon/tenon.h>

typedef struct peer peer;

typedef struct peer_settings {
  int substeps;   // 1 is the default of the engines
  int iterations; // of their solvers; 0: their default
  bool sleeping;  // bodies at rest may sleep, the default of the engines
} peer_settings;

int peer_count(void);
const char *peer_name(int index);
// Version, precision and solver; null if there is no such engine.
const char *peer_describe(const char *name);

// On one thread. Returns null if the world cannot be converted, with the reason in `why`.
peer *peer_create(const char *name, const tn_world *world, peer_settings settings, char *why,
                  size_t size);
void peer_destroy(peer *p);

void peer_step(peer *p, float dt);
// Features of the world that the conversion left out, as text; empty if none.
const char *peer_omissions(const peer *p);
// Number of contact points, including speculative ones.
int peer_contact_points(const peer *p);

typedef struct peer_state {
  tn_transform pose; // of the body's frame, as tn_body_transform
  tn_vec3 velocity;  // of the centre of mass
  tn_vec3 angular_velocity;
} peer_state;

// Zeroed for a body that did not exist when the peer was created.
peer_state peer_read(const peer *p, tn_body_id body);
// Writes the state of the peer to the world that it was created from, and updates the contacts
// there without stepping. False if a state is not finite, or if out of memory.
bool peer_show(const peer *p, tn_world *world);

#endif
