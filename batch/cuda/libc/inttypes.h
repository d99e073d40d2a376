// Of the device module, where nothing is formatted.
#ifndef TENON_DEVICE_INTTYPES_H
#define TENON_DEVICE_INTTYPES_H

#include <stdint.h>

#define PRIu64 "lu"

#endif
