// Format of a saved world: a header, then arrays one after another. SNAPSHOT_PARTS declares each
// array once, for saving, restoring and checking.
#ifndef TENON_WORLD_SNAPSHOT_H
#define TENON_WORLD_SNAPSHOT_H

#include "data/world.h"

#define HASH_START 0xcbf29ce484222325ull // offset basis of FNV-1a, 64 bits

// Arrays: type, name. shape_motions holds the travel bounds. The last two hold bytes: the sources
// of the geometries and the arrays of the soft bodies, of live ones in slot order.
#define SNAPSHOT_PARTS(PART)                                                                       \
  PART(body, bodies)                                                                               \
  PART(body_state, states)                                                                         \
  PART(body_block, blocks)                                                                         \
  PART(joint, joints)                                                                              \
  PART(coupling, couplings)                                                                        \
  PART(shared_geometry, geometries)                                                                \
  PART(shape, shapes)                                                                              \
  PART(double, shape_motions)                                                                      \
  PART(pair, pairs)                                                                                \
  PART(contact, contacts)                                                                          \
  PART(soft, softs)                                                                                \
  PART(attachment, attachments)                                                                    \
  PART(soft_touch_pair, soft_touch_pairs)                                                          \
  PART(soft_contact, soft_contacts)                                                                \
  PART(uint8_t, sources)                                                                           \
  PART(uint8_t, soft_data)

// Those of them that are pools.
#define SNAPSHOT_POOLS(POOL)                                                                       \
  POOL(body, bodies)                                                                               \
  POOL(joint, joints)                                                                              \
  POOL(coupling, couplings)                                                                        \
  POOL(geometry, geometries)                                                                       \
  POOL(shape, shapes)                                                                              \
  POOL(pair, pairs)                                                                                \
  POOL(contact, contacts)                                                                          \
  POOL(soft, softs)                                                                                \
  POOL(attachment, attachments)

typedef struct snapshot_counts {
#define DECLARE(type, name) uint64_t name;
  SNAPSHOT_PARTS(DECLARE)
#undef DECLARE
} snapshot_counts;

typedef struct snapshot_header {
  uint64_t magic;
  uint32_t version, header_size;
  uint64_t layout; // hash of the element sizes: detects another build
  tn_vec3 gravity;
  int32_t method, substeps, iterations;
  uint64_t size;     // bytes after the header
  uint64_t checksum; // of header and content, with this field zero
  int32_t sleeping;
  float last_h, sleep_speed, sleep_time, play;
  snapshot_counts count;
#define DECLARE(name, part) pool name##_pool;
  SNAPSHOT_POOLS(DECLARE)
#undef DECLARE
} snapshot_header;

// A snapshot during a restore, copied to aligned memory.
typedef struct snapshot {
  snapshot_header header;
#define DECLARE(type, name) type *name;
  SNAPSHOT_PARTS(DECLARE)
#undef DECLARE
  void *memory;
  size_t size;
} snapshot;

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

// snapshot_check.c
// Whether every index, count, link, enum and number is one that the library could have saved; if
// not, `why` says where. The array pointers of soft bodies must be set.
bool snapshot_check(const snapshot *s, char *why, size_t size);
// The same for header, pools and the counts of soft bodies, before their arrays are assigned.
bool snapshot_check_sizes(const snapshot *s, char *why, size_t size);

#endif
