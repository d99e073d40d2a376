// Mass of primitive geoms, and primitives that stand for meshes.
#ifndef TENON_IMPORT_SOLIDS_H
#define TENON_IMPORT_SOLIDS_H

#include "read.h"

// In the frame of the geom; of a shell per area. Planes and height fields have none.
model_mass solid_of_unit_density(tn_model *model, const model_geom *g);
// Gives primitives that name a mesh the sizes and the place of that mesh.
bool solids_fit(reader *r);

#endif
