// What the fuzz targets share. A target is a file with LLVMFuzzerTestOneInput(): libFuzzer calls it
// with mutated inputs (`make fuzz`), and inputs.c with the stored ones (`make test`).
#ifndef TENON_FUZZ_H
#define TENON_FUZZ_H

#include <tenon/tenon.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
// Changes an input in place; returns its new size, at most `capacity`.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
    __attribute__((weak)); // not every target has one
// libFuzzer's own mutations of bytes.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

// Prints the reason and aborts, which libFuzzer reports with the input.
void fuzz_fail(const char *what);
// A tn_log_fn that drops messages but requires that they are not empty.
void fuzz_log(tn_log_level level, const char *message, void *context);
// The default definition with fuzz_log() and a few substeps.
tn_world_def fuzz_world_def(void);
// Steps a world of moderate size a few times: every number is finite afterwards.
void fuzz_run_world(tn_world *world, int steps);
// Fails unless all poses and velocities of bodies and particles are finite.
void fuzz_check_finite(const tn_world *world);

// Random numbers of the mutators.
typedef struct fuzz_random {
  uint64_t state;
} fuzz_random;
uint32_t fuzz_next(fuzz_random *r);
int fuzz_index(fuzz_random *r, int count); // 0 for a count below 1
// An ordinary or a wild number: zero, tiny, huge, infinite, NaN, near the limits of the types.
double fuzz_number(fuzz_random *r);

// Changes a text of the forms of JSON or XML so that most results still parse: numbers and words
// are replaced, balanced groups are removed, repeated or moved.
size_t fuzz_mutate_text(uint8_t *data, size_t size, size_t capacity, unsigned seed);

#endif
