// Parts of the solver, timed alone. They see the library's inside, which the benchmarks do not.
#ifndef TENON_TEST_MICRO_H
#define TENON_TEST_MICRO_H

#include <tenon/tenon.h>

// Lanes that micro_joint_kernel_ns() was compiled for.
int micro_kernel_lanes(void);
// A substep of a ball joint or a hinge, ns each, with all it needs at hand. The clock gives
// milliseconds, here and below.
double micro_joint_kernel_ns(bool hinge, tn_clock_fn *cpu_ms);
// The pass of the position methods over the world's joints, ns a joint: again and again from the
// same state, which is put back. `h` is the length of a substep, s. 0 without memory.
double micro_joint_pass_ns(tn_world *world, float h, tn_clock_fn *cpu_ms);

#endif
