// Of the device module: asserts are tested on the CPU.
#ifndef TENON_DEVICE_ASSERT_H
#define TENON_DEVICE_ASSERT_H

#define assert(condition) ((void)0)
#define static_assert _Static_assert

#endif
