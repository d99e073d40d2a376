// What became of each element and attribute of an XML file.
#ifndef TENON_IMPORT_FATES_H
#define TENON_IMPORT_FATES_H

#include "xml.h"

// Adds a note for every attribute and element: those that no reader used are ignored ones, those of
// the tables have the fate that is written there, and the rest is honoured.
void fates_report(tn_model *model, const xml_node *root, tn_import_format format);

#endif
