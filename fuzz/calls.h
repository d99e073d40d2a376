// Mutations of recordings of calls.
#ifndef TENON_FUZZ_CALLS_H
#define TENON_FUZZ_CALLS_H

#include <stddef.h>
#include <stdint.h>

// Changes the records of a recording, without its header, in place. The same seed makes the same
// changes. Returns the new size, at most `capacity`.
size_t calls_mutate(uint8_t *records, size_t size, size_t capacity, uint32_t seed);

#endif
