// The module of a card on the CPU.
#ifndef TENON_EMULATED_DEVICE_H
#define TENON_EMULATED_DEVICE_H

#include "device.h"

const tn_batch_device *emulated_device(void);

#endif
