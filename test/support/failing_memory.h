// Allocations of the C library that fail on demand, in programs that are linked with --wrap for
// them (CMake: tenon_failing_memory).
#ifndef TENON_TEST_FAILING_MEMORY_H
#define TENON_TEST_FAILING_MEMORY_H

#include <stdbool.h>

// From now on the allocation `until_failure` fails, counted from 0; negative: none does.
void memory_fail_at(int until_failure);
// Ends that; returns whether one has failed.
bool memory_has_failed(void);
// Allocations since memory_fail_at(), the failed one included.
int memory_asked(void);
// Allocations that have not been freed.
long memory_live(void);

#endif
