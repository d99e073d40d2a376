// Packs records of a world into few bytes: each field is written as its difference to a guess, and
// a difference of zero costs an eighth of a byte or less. The guess is usually the record before,
// or what follows from other records: most of what rests does not differ from it.
//
// One description serves both directions: state_code() writes fields while saving, reads them while
// restoring.
#ifndef TENON_WORLD_STATE_CODE_H
#define TENON_WORLD_STATE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATE_MOST_VALUES 256 // of a record

// A number or an array of numbers in a record. Floats count as the integers of their bits: those of
// nearly equal floats differ little.
typedef struct state_field {
  uint16_t offset, count;
  uint8_t width; // bytes: 1, 4 or 8
} state_field;

// `unit` is the type of the numbers: uint8_t, int32_t, float, double.
#define STATE_FIELD(type, member, unit)                                                            \
  {                                                                                                \
    (uint16_t) offsetof(type, member),                                                             \
        (uint16_t)(sizeof(((type *)NULL)->member) / (sizeof(unit))), (uint8_t)sizeof(unit)         \
  }

typedef struct state_coder {
  bool saving;
  bool failed;          // restoring: the bytes do not suffice, or something was out of range
  unsigned char *bytes; // saving; null: only the size is wanted
  const unsigned char *from;
  size_t at, size; // next byte; room, or bytes to read
} state_coder;

void state_code(state_coder *c, const state_field *fields, int count, void *record,
                const void *guess);
// A number on its own.
void state_code_number(state_coder *c, int32_t *number, int32_t guess);

#define STATE_CODE(coder, fields, record, guess)                                                   \
  state_code(coder, fields, (int)(sizeof(fields) / sizeof *(fields)), record, guess)

// For checksums and fingerprints: eight bytes at a time.
uint64_t state_mix(uint64_t hash, const void *bytes, size_t size);

#endif
