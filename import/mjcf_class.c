// Classes of defaults: an element takes the attributes of the root class, then those of each class
// on the way to its own, then its own.
#include "mjcf.h"

#include <string.h>

static mjcf_class *class_by_name(mjcf *m, const char *name)
{
  for (int i = 0; i < m->classes.count; ++i) {
    if (strcmp(m->classes.items[i]->name, name) == 0) {
      return m->classes.items[i];
    }
  }
  return NULL;
}

static mjcf_class *add_class(mjcf *m, const char *name, mjcf_class *parent)
{
  mjcf_class *made = memory_take(&m->model->memory, 1, sizeof *made);
  mjcf_class **entry = made ? LIST_ADD(&m->model->memory, &m->classes) : NULL;
  if (!entry) {
    return NULL;
  }
  made->name = name;
  made->parent = parent;
  *entry = made;
  return made;
}

static bool add_section(mjcf *m, mjcf_class *to, const xml_node *node)
{
  const xml_node **section = LIST_ADD(&m->model->memory, &to->sections);
  if (!section) {
    return import_fail(m->r, node->at, "not enough memory");
  }
  *section = node;
  for (xml_node *child = node->first; child; child = child->next) {
    if (!xml_is(child, "default")) {
      continue;
    }
    child->used = true;
    const char *name = xml_get(child, "class");
    if (!name || !*name) {
      return import_fail(m->r, child->at, "a nested <default> needs a class");
    }
    mjcf_class *inner = class_by_name(m, name);
    if (inner && inner->parent != to) {
      return import_fail(m->r, child->at, "the class '%.60s' is there already", name);
    }
    inner = inner ? inner : add_class(m, name, to);
    if (!inner || !add_section(m, inner, child)) {
      return import_fail(m->r, child->at, "not enough memory");
    }
  }
  return true;
}

bool mjcf_read_defaults(mjcf *m, const xml_node *root)
{
  mjcf_class *top = add_class(m, "main", NULL);
  if (!top) {
    return import_fail(m->r, root->at, "not enough memory");
  }
  for (xml_node *node = root->first; node; node = node->next) {
    if (!xml_is(node, "default")) {
      continue;
    }
    node->used = true;
    const char *name = xml_get(node, "class");
    if (name && *name && top->sections.count == 0) {
      top->name = name;
    }
    mjcf_class *to = name && *name ? class_by_name(m, name) : top;
    if (!to) { // a further top-level section with a class of its own
      to = add_class(m, name, top);
    }
    if (!to || !add_section(m, to, node)) {
      return import_fail(m->r, node->at, "not enough memory");
    }
  }
  return true;
}

mjcf_class *mjcf_find_class(mjcf *m, const xml_node *node, const char *name)
{
  mjcf_class *found = class_by_name(m, name);
  if (!found) {
    import_fail(m->r, node->at, "there is no default class '%.60s'", name);
  }
  return found;
}

mjcf_class *mjcf_class_of(mjcf *m, const xml_node *node, mjcf_class *around)
{
  const char *name = xml_get(node, "class");
  if (name && *name) {
    return mjcf_find_class(m, node, name);
  }
  return around ? around : m->classes.items[0];
}

static bool has_tag(const char *tags, const char *name)
{
  size_t length = strlen(name);
  for (const char *at = tags; *at;) {
    size_t word = strcspn(at, " ");
    if (word == length && strncmp(at, name, length) == 0) {
      return true;
    }
    at += word;
    at += *at == ' ';
  }
  return false;
}

static void apply_class(mjcf *m, const mjcf_class *from, const char *tags, mjcf_apply_fn *apply,
                        void *out)
{
  if (!from) {
    return;
  }
  apply_class(m, from->parent, tags, apply, out);
  for (int i = 0; i < from->sections.count; ++i) {
    for (xml_node *n = from->sections.items[i]->first; n; n = n->next) {
      if (has_tag(tags, n->name)) {
        n->used = true;
        apply(m, n, out);
      }
    }
  }
}

void mjcf_apply(mjcf *m, const xml_node *node, mjcf_class *around, const char *tags,
                mjcf_apply_fn *apply, void *out)
{
  apply_class(m, mjcf_class_of(m, node, around), tags, apply, out);
  apply(m, node, out);
}
