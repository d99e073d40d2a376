// Pictures of scenes for the report.
#ifndef TENON_STUDY_PICTURE_H
#define TENON_STUDY_PICTURE_H

#include "page.h"

// Adds a small picture of a scene after a moment, beside what follows.
void page_picture(page *p, const char *scene_name);

#endif
