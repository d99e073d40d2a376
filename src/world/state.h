// Format of a saved dynamic state: a header, then packed records (state_code.h) of all live bodies,
// joints, couplings, shapes, pairs, contacts, soft bodies, attachments and soft contacts.
#ifndef TENON_WORLD_STATE_H
#define TENON_WORLD_STATE_H

#include "world/snapshot.h"
#include "world/state_code.h"

typedef struct state_header {
  uint64_t magic;
  uint32_t version;
  float last_h;
  uint64_t layout;   // hash of the sizes of records: detects another build
  uint64_t things;   // fingerprint of what the world has: see state_things()
  uint64_t masses;   // of the masses of bodies
  uint64_t size;     // bytes after the header
  uint64_t checksum; // of header and content, with this field zero
  pool pair_pool, contact_pool;
  uint32_t soft_touch_pairs, soft_contacts;
} state_header;

uint64_t state_checksum(const state_header *header, const void *content);

// state_things.c: fingerprints of bodies, joints, shapes and soft bodies, without poses, materials,
// masses and settings; and of masses.
uint64_t state_things(const tn_world *world);
uint64_t state_masses(const tn_world *world);

// state_records.c: writes or reads all records of `s`, by the pools in its header. While saving,
// `world` gives the impulses that joints have in the solver; null while restoring.
void state_code_records(state_coder *c, snapshot *s, const tn_world *world);

#endif
