// The page uses four lanes; the scalar solver, which the library can also select, would double the
// size of the module.
#include "data/world.h"

const solver_ops solver_ops_1;
const contact_ops contact_ops_1;
const soft_ops soft_ops_1;
