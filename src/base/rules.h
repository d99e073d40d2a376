// Switches of the solver's extra rules, for ablation studies: docs/solver.md lists the rules.
//
// RULE(name) is the constant true in an ordinary build, and the compiler removes the test. In a
// build with -DTENON_RULES=ON the environment variable TENON_RULES_OFF holds the names of the rules
// to switch off, separated by commas, or @file: the name of a file that holds them.
#ifndef TENON_BASE_RULES_H
#define TENON_BASE_RULES_H

#include <stdbool.h>

// Contacts, impacts, detection.
#define RULES_OF_CONTACTS(X)

// Joints and mechanisms.
#define RULES_OF_MECHANISMS(X)

// Soft bodies.
#define RULES_OF_SOFT_BODIES(X)

#define RULES(X) RULES_OF_CONTACTS(X) RULES_OF_MECHANISMS(X) RULES_OF_SOFT_BODIES(X)

#if defined(TENON_RULES)

#define RULE_ENUM(name) RULE_##name,
typedef enum rule { RULES(RULE_ENUM) RULE_COUNT } rule;
#undef RULE_ENUM

bool rule_is_on(rule r);
#define RULE(name) rule_is_on(RULE_##name)

#else

#define RULE(name) true

#endif

#endif
