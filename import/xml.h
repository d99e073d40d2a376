// XML files as trees of elements. Attributes remember whether a reader has used them, so that a
// report can list those that none did.
#ifndef TENON_IMPORT_XML_H
#define TENON_IMPORT_XML_H

#include "read.h"

enum { XML_MAX_DEPTH = 250, XML_MAX_NODES = 2000000, XML_MAX_CONTENT = 80 };

typedef struct xml_attribute xml_attribute;
struct xml_attribute {
  const char *name, *value;
  xml_attribute *next;
  bool used;
};

typedef struct xml_node xml_node;
struct xml_node {
  const char *name;
  place at;
  xml_attribute *attributes;
  xml_node *parent, *first, *last, *next; // children in the order of the file
  const char *content; // text of an element without children, without blanks around; else ""
  bool used;
};

// Parses a text; null with the reader's error for one that is not well-formed, declares entities,
// or is too deep or too large.
xml_node *xml_parse(reader *r, const char *path, const char *text, size_t size);

// The value of an attribute, which counts as used then; null if there is none.
const char *xml_get(const xml_node *node, const char *name);
bool xml_has(const xml_node *node, const char *name); // without using it
bool xml_is(const xml_node *node, const char *name);
// Replaces the value of an attribute.
void xml_set(const xml_node *node, const char *name, const char *value);
// The first child of that name, or null.
const xml_node *xml_child(const xml_node *node, const char *name);

// Reads up to `most` numbers into `values` and returns how many there are; fewer than `least`, more
// than `most`, infinite ones and other text are errors. 0, with nothing written, without the
// attribute.
int xml_numbers(reader *r, const xml_node *node, const char *name, int least, int most,
                double *values);
bool xml_number(reader *r, const xml_node *node, const char *name, double *value);
bool xml_integer(reader *r, const xml_node *node, const char *name, int *value);
bool xml_vector(reader *r, const xml_node *node, const char *name, dvec *value);
// true or false.
bool xml_bool(reader *r, const xml_node *node, const char *name, bool *value);
// The index of the attribute's value in a list that ends with null; other values are errors.
bool xml_word(reader *r, const xml_node *node, const char *name, const char *const *words,
              int *value);
// Any number of numbers, in the model's memory.
double *xml_list(reader *r, const xml_node *node, const char *name, int *count);
// The attribute, or "".
const char *xml_text(const xml_node *node, const char *name);

#endif
