#include "fates.h"

#include <string.h>

typedef struct fate_row {
  const char *element;   // null: any
  const char *attribute; // null: the element with all that is in it
  tn_import_fate fate;
  const char *why; // null: the fate says it
} fate_row;

#define NOT_IN_FORMAT "not part of the format"
#define NO_READ_OUT "a sensor that has no read-out"
#define GAZEBO_FRICTION "friction has no direction, the larger of two geoms counts"
#define CONTACTS_OF_OTHERS "contacts are damped by the solver"
#define SOLVER_OF_OTHERS "accuracy is set by the substeps here"

static const fate_row mjcf_fates[] = {
    {"visual", NULL, TN_IMPORT_VISUAL, NULL},
    {"statistic", NULL, TN_IMPORT_VISUAL, NULL},
    {"texture", NULL, TN_IMPORT_VISUAL, NULL},
    {"material", NULL, TN_IMPORT_VISUAL, NULL},
    {"light", NULL, TN_IMPORT_VISUAL, NULL},
    {"camera", NULL, TN_IMPORT_VISUAL, NULL},
    {"skin", NULL, TN_IMPORT_VISUAL, NULL},
    {"size", NULL, TN_IMPORT_VISUAL, "memory of MuJoCo"},
    {"custom", NULL, TN_IMPORT_VISUAL, "data for programs that use the file"},
    {"numeric", NULL, TN_IMPORT_VISUAL, "data for programs that use the file"},
    {"text", NULL, TN_IMPORT_VISUAL, "data for programs that use the file"},
    {"tuple", NULL, TN_IMPORT_VISUAL, "data for programs that use the file"},
    {NULL, "user", TN_IMPORT_VISUAL, "data for programs that use the file"},
    {NULL, "noise", TN_IMPORT_VISUAL, "for programs that use the file: MuJoCo adds none itself"},
    {NULL, "rgba", TN_IMPORT_VISUAL, NULL},
    {NULL, "material", TN_IMPORT_VISUAL, NULL},
    {"site", "size", TN_IMPORT_VISUAL, NULL},
    {"site", "type", TN_IMPORT_VISUAL, NULL},
    {"site", "group", TN_IMPORT_VISUAL, NULL},
    {"joint", "group", TN_IMPORT_VISUAL, NULL},
    {"freejoint", "group", TN_IMPORT_VISUAL, NULL},
    {"freejoint", "align", TN_IMPORT_VISUAL, "the frame of a body does not change its motion"},
    {"tendon", "group", TN_IMPORT_VISUAL, NULL},
    {"tendon", "width", TN_IMPORT_VISUAL, NULL},
    {"spatial", "group", TN_IMPORT_VISUAL, NULL},
    {"spatial", "width", TN_IMPORT_VISUAL, NULL},
    {"fixed", "group", TN_IMPORT_VISUAL, NULL},
    {"mesh", "texcoord", TN_IMPORT_VISUAL, NULL},
    {"mesh", "normal", TN_IMPORT_VISUAL, NULL},
    {"mesh", "smoothnormal", TN_IMPORT_VISUAL, NULL},
    {"mesh", "maxhullvert", TN_IMPORT_APPROXIMATED, "hulls have up to 64 vertices"},
    {"mesh", "octree_maxdepth", TN_IMPORT_VISUAL, NULL},
    {"compiler", "texturedir", TN_IMPORT_VISUAL, NULL},
    {"compiler", "discardvisual", TN_IMPORT_VISUAL, NULL},
    {"compiler", "usethread", TN_IMPORT_VISUAL, NULL},
    {"compiler", "convexhull", TN_IMPORT_VISUAL, NULL},
    {"compiler", "saveinertial", TN_IMPORT_VISUAL, NULL},
    {"compiler", "fusestatic", TN_IMPORT_VISUAL, "bodies without joints are always fused"},
    {"compiler", "alignfree", TN_IMPORT_VISUAL, "the frame of a body does not change its motion"},
    {"compiler", "exactmeshinertia", TN_IMPORT_VISUAL, "obsolete in MuJoCo"},
    {"option", "timestep", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "integrator", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "solver", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "iterations", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "ls_iterations", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "noslip_iterations", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "ccd_iterations", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "mpr_iterations", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "tolerance", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "ls_tolerance", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "noslip_tolerance", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "ccd_tolerance", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "mpr_tolerance", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "jacobian", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "cone", TN_IMPORT_APPROXIMATED, "friction is limited by a circular cone"},
    {"option", "impratio", TN_IMPORT_APPROXIMATED, "friction is rigid until it slides"},
    {"geom", "fluidshape", TN_IMPORT_APPROXIMATED, "a fluid acts on the box of the body's inertia"},
    {"geom", "fluidcoef", TN_IMPORT_APPROXIMATED, "a fluid acts on the box of the body's inertia"},
    {"touch", "site", TN_IMPORT_APPROXIMATED, "all contacts of the site's body count"},
    {"camprojection", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"user", NULL, TN_IMPORT_VISUAL, "data for programs that use the file"},
    {"jointlimitpos", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"jointlimitvel", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"jointlimitfrc", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"tendonlimitpos", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"tendonlimitvel", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"tendonlimitfrc", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"tendonactuatorfrc", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"insidesite", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"distance", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"normal", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"fromto", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"tactile", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"e_potential", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"e_kinetic", NULL, TN_IMPORT_IGNORED, NO_READ_OUT},
    {"flag", "warmstart", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "refsafe", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "midphase", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "eulerdamp", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "autoreset", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "nativeccd", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "island", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "invdiscrete", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "multiccd", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "sleep", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "fwdinv", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "energy", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "sensor", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"flag", "override", TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"option", "apirate", TN_IMPORT_VISUAL, NULL},
    {"geom", "solref", TN_IMPORT_APPROXIMATED, "as compliance and restitution of the body's mass"},
    {"geom", "solimp", TN_IMPORT_APPROXIMATED, "as compliance and restitution of the body's mass"},
    {NULL, "solref", TN_IMPORT_APPROXIMATED, "constraints are rigid or elastic, not regularised"},
    {NULL, "solimp", TN_IMPORT_APPROXIMATED, "constraints are rigid or elastic, not regularised"},
    {NULL, "solreflimit", TN_IMPORT_APPROXIMATED, "limits are rigid"},
    {NULL, "solimplimit", TN_IMPORT_APPROXIMATED, "limits are rigid"},
    {NULL, "solreffriction", TN_IMPORT_APPROXIMATED, "friction is rigid until it slides"},
    {NULL, "solimpfriction", TN_IMPORT_APPROXIMATED, "friction is rigid until it slides"},
    {"weld", "torquescale", TN_IMPORT_APPROXIMATED, "welds are rigid"},
    {"joint", "actuatorgravcomp", TN_IMPORT_APPROXIMATED,
     "forces of gravity compensation are not limited"},
    {"fixed", "armature", TN_IMPORT_IGNORED, "tendons have no armature"},
    {"spatial", "armature", TN_IMPORT_IGNORED, "tendons have no armature"},
    {"tendon", "armature", TN_IMPORT_IGNORED, "tendons have no armature"},
    {"geom", "solmix", TN_IMPORT_APPROXIMATED, "materials are mixed by their own rule"},
    {"geom", "margin", TN_IMPORT_APPROXIMATED, "contacts are found ahead of touch in any case"},
    {"geom", "gap", TN_IMPORT_APPROXIMATED, "contacts are found ahead of touch in any case"},
    {"pair", "margin", TN_IMPORT_APPROXIMATED, "contacts are found ahead of touch in any case"},
    {"pair", "gap", TN_IMPORT_APPROXIMATED, "contacts are found ahead of touch in any case"},
    {"joint", "margin", TN_IMPORT_APPROXIMATED, "limits act where they are reached"},
    {"tendon", "margin", TN_IMPORT_APPROXIMATED, "limits act where they are reached"},
};

static const fate_row urdf_fates[] = {
    {"limit", "effort", TN_IMPORT_HONOURED, "the joint has a motor of its name"},
    {"limit", "velocity", TN_IMPORT_APPROXIMATED, "servos approach their targets no faster"},
    {"compiler", "discardvisual", TN_IMPORT_VISUAL, NULL},
    {"compiler", "fusestatic", TN_IMPORT_VISUAL, "links that are fixed to each other are one body"},
    {"compiler", "strippath", TN_IMPORT_VISUAL,
     "meshes are looked for with their path and without"},
    {"material", NULL, TN_IMPORT_VISUAL, NULL},
    {"color", NULL, TN_IMPORT_VISUAL, NULL},
    {"visual", NULL, TN_IMPORT_VISUAL, NULL},
    {"mu", NULL, TN_IMPORT_APPROXIMATED, GAZEBO_FRICTION},
    {"mu1", NULL, TN_IMPORT_APPROXIMATED, GAZEBO_FRICTION},
    {"mu2", NULL, TN_IMPORT_APPROXIMATED, GAZEBO_FRICTION},
    {"fdir1", NULL, TN_IMPORT_APPROXIMATED, GAZEBO_FRICTION},
    {"kd", NULL, TN_IMPORT_APPROXIMATED, CONTACTS_OF_OTHERS},
    {"minDepth", NULL, TN_IMPORT_APPROXIMATED, CONTACTS_OF_OTHERS},
    {"min_depth", NULL, TN_IMPORT_APPROXIMATED, CONTACTS_OF_OTHERS},
    {"maxVel", NULL, TN_IMPORT_APPROXIMATED, CONTACTS_OF_OTHERS},
    {"max_vel", NULL, TN_IMPORT_APPROXIMATED, CONTACTS_OF_OTHERS},
    {"maxContacts", NULL, TN_IMPORT_APPROXIMATED, CONTACTS_OF_OTHERS},
    {"max_contacts", NULL, TN_IMPORT_APPROXIMATED, CONTACTS_OF_OTHERS},
    {"selfCollide", NULL, TN_IMPORT_APPROXIMATED, "links collide that are not parent and child"},
    {"self_collide", NULL, TN_IMPORT_APPROXIMATED, "links collide that are not parent and child"},
    {"stopCfm", NULL, TN_IMPORT_APPROXIMATED, "limits are rigid"},
    {"stopErp", NULL, TN_IMPORT_APPROXIMATED, "limits are rigid"},
    {"fudgeFactor", NULL, TN_IMPORT_APPROXIMATED, "limits are rigid"},
    {"cfmDamping", NULL, TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"implicitSpringDamper", NULL, TN_IMPORT_APPROXIMATED, SOLVER_OF_OTHERS},
    {"provideFeedback", NULL, TN_IMPORT_VISUAL, "joints always report their forces"},
    {"preserveFixedJoint", NULL, TN_IMPORT_VISUAL,
     "links that are fixed to each other are one body"},
    {"disableFixedJointLumping", NULL, TN_IMPORT_VISUAL,
     "links that are fixed to each other are one body"},
    {"plugin", NULL, TN_IMPORT_VISUAL, "a program of another simulator"},
    {"sensor", NULL, TN_IMPORT_VISUAL, "a sensor of another simulator"},
    {"laserRetro", NULL, TN_IMPORT_VISUAL, NULL},
    {"transmission", NULL, TN_IMPORT_VISUAL, "names of hardware interfaces"},
    {"calibration", NULL, TN_IMPORT_VISUAL, "for hardware"},
    {"safety_controller", NULL, TN_IMPORT_VISUAL, "for hardware"},
    {"ros2_control", NULL, TN_IMPORT_VISUAL, "for hardware"},
    {"collision", "name", TN_IMPORT_VISUAL, NULL},
    {"robot", "version", TN_IMPORT_VISUAL, NULL},
    {"damping", NULL, TN_IMPORT_APPROXIMATED, CONTACTS_OF_OTHERS},
    {"joint_properties", NULL, TN_IMPORT_VISUAL, NOT_IN_FORMAT},
    {"dynamics", "D", TN_IMPORT_VISUAL, NOT_IN_FORMAT},
    {"dynamics", "K", TN_IMPORT_VISUAL, NOT_IN_FORMAT},
    {"dynamics", "mu_coulomb", TN_IMPORT_VISUAL, NOT_IN_FORMAT},
    {"dynamics", "mu_viscous", TN_IMPORT_VISUAL, NOT_IN_FORMAT},
    {"axis", "rpy", TN_IMPORT_VISUAL, NOT_IN_FORMAT},
    {"link", "type", TN_IMPORT_VISUAL, NULL},
};

typedef struct fate_table {
  const fate_row *rows;
  int count;
} fate_table;

static const fate_row *find_row(fate_table table, const char *element, const char *attribute)
{
  for (int i = 0; i < table.count; ++i) {
    const fate_row *row = &table.rows[i];
    bool fits = !row->element || strcmp(row->element, element) == 0;
    bool same =
        attribute ? row->attribute && strcmp(row->attribute, attribute) == 0 : !row->attribute;
    if (fits && same) {
      return row;
    }
  }
  return NULL;
}

static void report_attributes(tn_model *model, const xml_node *node, fate_table table)
{
  for (const xml_attribute *a = node->attributes; a; a = a->next) {
    const fate_row *row = find_row(table, node->name, a->name);
    bool space = strncmp(a->name, "xmlns", 5) == 0;
    tn_import_fate fate = row       ? row->fate
                          : space   ? TN_IMPORT_VISUAL
                          : a->used ? TN_IMPORT_HONOURED
                                    : TN_IMPORT_IGNORED;
    if (!a->used && fate == TN_IMPORT_HONOURED) {
      fate = TN_IMPORT_IGNORED;
    }
    const char *why = row && row->why ? row->why : NULL;
    model_note_add(model, fate, node->at, "<%.60s> %.60s%s%s", node->name, a->name, why ? ": " : "",
                   why ? why : "");
  }
}

// A class of defaults that nothing uses has no effect in any program.
static bool is_unused_default(const xml_node *node)
{
  return !node->used && node->parent && xml_is(node->parent, "default");
}

// A sensor with the name of a section of the file.
static bool is_contact_sensor(const xml_node *node)
{
  return xml_is(node, "contact") && node->parent && xml_is(node->parent, "sensor");
}

// Axis and limits of a URDF joint that is fixed.
static bool is_part_of_fixed_joint(const xml_node *node)
{
  const xml_node *joint = node->parent;
  const char *type = joint && xml_is(joint, "joint") ? xml_get(joint, "type") : NULL;
  return type && strcmp(type, "fixed") == 0 && !node->used;
}

static void report_node(tn_model *model, const xml_node *node, fate_table table)
{
  const fate_row *row = find_row(table, node->name, NULL);
  if (row) {
    model_note_add(model, row->fate, node->at, "<%.60s>%s%s", node->name, row->why ? ": " : "",
                   row->why ? row->why : "");
    return;
  }
  if (is_unused_default(node)) {
    return;
  }
  if (is_contact_sensor(node)) {
    model_note_add(model, TN_IMPORT_IGNORED, node->at, "<contact>: " NO_READ_OUT);
    return;
  }
  if (is_part_of_fixed_joint(node)) {
    model_note_add(model, TN_IMPORT_VISUAL, node->at, "<%.60s> of a fixed joint", node->name);
    return;
  }
  if (!node->used) {
    model_note_add(model, TN_IMPORT_IGNORED, node->at, "<%.60s> in <%.60s>", node->name,
                   node->parent ? node->parent->name : "");
    return;
  }
  if (!node->attributes) {
    model_note_add(model, TN_IMPORT_HONOURED, node->at, "<%.60s>", node->name);
  }
  report_attributes(model, node, table);
  for (const xml_node *child = node->first; child; child = child->next) {
    report_node(model, child, table);
  }
}

void fates_report(tn_model *model, const xml_node *root, tn_import_format format)
{
  fate_table mjcf = {mjcf_fates, (int)(sizeof mjcf_fates / sizeof mjcf_fates[0])};
  fate_table urdf = {urdf_fates, (int)(sizeof urdf_fates / sizeof urdf_fates[0])};
  report_node(model, root, format == TN_IMPORT_MJCF ? mjcf : urdf);
}
