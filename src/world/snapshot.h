// The bytes of a saved world: a header, then arrays one after the other. Each array is declared
// once, in SNAPSHOT_PARTS, for writing, reading and checking alike.
#ifndef TENON_WORLD_SNAPSHOT_H
#define TENON_WORLD_SNAPSHOT_H

#include "data/world.h"

#define HASH_START 0xcbf29ce484222325ull

// Arrays of a snapshot: type, name. The last two hold bytes of any type: what geometries were made
// of, and the arrays of soft bodies, of the live ones in the order of slots.
#define SNAPSHOT_PARTS(PART)                                                                       \
  PART(body, bodies)                                                                               \
  PART(body_state, states)                                                                         \
  PART(body_block, blocks)                                                                         \
  PART(joint, joints)                                                                              \
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

// Pools among them.
#define SNAPSHOT_POOLS(POOL)                                                                       \
  POOL(body, bodies)                                                                               \
  POOL(joint, joints)                                                                              \
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

// Everything that is not an array.
typedef struct snapshot_header {
  uint64_t magic;
  uint32_t version, header_size;
  uint64_t layout; // of the arrays' elements: guards against another build
  tn_vec3 gravity;
  int32_t method, substeps, iterations;
  uint64_t size;     // of what follows the header
  uint64_t checksum; // of everything, itself taken as zero
  int32_t sleeping;
  float last_h;
  snapshot_counts count;
#define DECLARE(name, part) pool name##_pool;
  SNAPSHOT_POOLS(DECLARE)
#undef DECLARE
} snapshot_header;

// A snapshot that is being restored, in aligned memory of its own.
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
// Whether every index, count, link, choice and number is one that the library could have saved. The
// pointers of soft bodies must lead to their arrays. If not, `why` says where.
bool snapshot_check(const snapshot *s, char *why, size_t size);
// The same of soft bodies' counts, before their arrays can be looked at.
bool snapshot_check_sizes(const snapshot *s, char *why, size_t size);

#endif
