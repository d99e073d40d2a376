// Contact pairs as bits of the geoms' filters.
#ifndef TENON_IMPORT_PAIRS_H
#define TENON_IMPORT_PAIRS_H

#include "model.h"

void pairs_assign(tn_model *model);

#endif
