// Memory of the C library in the device module.
#ifndef TENON_DEVICE_LIBC_H
#define TENON_DEVICE_LIBC_H

#include <tenon/base.h>

// Where malloc() takes memory in this thread, until it is set to null.
void device_set_heap(const tn_allocator *heap);
// Of this thread: in kernels.c and emulated_device.c.
const tn_allocator **device_heap(void);

#endif
