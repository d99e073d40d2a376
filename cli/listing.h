// `tenon scenes`: which scenes there are.
#ifndef TENON_CLI_LISTING_H
#define TENON_CLI_LISTING_H

#include <stdbool.h>

// False with one line on stderr if the words make no sense.
bool show_scenes(int count, char **words);

#endif
