// `tenon scenes`: lists the scenes.
#ifndef TENON_CLI_LISTING_H
#define TENON_CLI_LISTING_H

#include <stdbool.h>

// Returns false with one line on stderr if the arguments are invalid.
bool show_scenes(int count, char **words);

#endif
