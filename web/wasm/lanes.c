// The page solves four constraints at a time; the scalar solver, which the library also looks for,
// would double the size of the module.
#include "data/world.h"

const solver_ops solver_ops_1;
const contact_ops contact_ops_1;
const soft_ops soft_ops_1;
