// Entries of the device module for cards: a thread for each world. kernels.ll marks them as such.
#include "device_call.h"
#include "device_libc.h"

#define INDEX                                                                                      \
  ((int32_t)(__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +                      \
             __nvvm_read_ptx_sreg_tid_x()))

#define KERNEL(name)                                                                               \
  void kernel_##name(const device_call *call, int32_t count);                                      \
  void kernel_##name(const device_call *call, int32_t count)                                       \
  {                                                                                                \
    if (INDEX < count) {                                                                           \
      device_##name(call, INDEX);                                                                  \
    }                                                                                              \
  }

KERNEL(open)
KERNEL(make)
KERNEL(put)
KERNEL(step)
KERNEL(hash)
KERNEL(keep)
KERNEL(reset)
KERNEL(states)
KERNEL(spread)
KERNEL(rows)
KERNEL(leave)

// Of the threads that make worlds of snapshots; the last one, which stays null, of all others.
static const tn_allocator *heaps[DEVICE_MOST_PUT + 1];

const tn_allocator **device_heap(void)
{
  return &heaps[INDEX < DEVICE_MOST_PUT ? INDEX : DEVICE_MOST_PUT];
}
