/// @file
/// Batches on a card of NVIDIA: tn_batch_def::device of tenon/batch.h.
///
/// The library tenon_cuda has the core and the batch as a module for cards (PTX), made by clang
/// from the same C. It loads the driver of the card, libcuda, when a batch is made, and needs
/// nothing else of CUDA. A world has the bits that it has on the CPU.
#ifndef TENON_CUDA_H
#define TENON_CUDA_H

#include <tenon/batch.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The first card that the driver shows (CUDA_VISIBLE_DEVICES chooses another). Whether there is
/// one turns out in tn_batch_create().
///
/// The driver compiles the module when it is first used. The result is kept in XDG_CACHE_HOME or
/// ~/.cache, for this card and driver. With TENON_CUDA_MODULE in the environment the module is read
/// from that file, which `ptxas -c` and `nvlink` have made.
TN_API const tn_batch_device *tn_cuda(void);

#ifdef __cplusplus
}
#endif

#endif
