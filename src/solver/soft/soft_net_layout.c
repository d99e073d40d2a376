// Builds the coarse levels of nets, see soft_nets.h. Only for nets that one pass over their edges
// would leave stretched: see longest_resolved().
#include "base/dvec.h"
#include "solver/soft/soft_steps.h"

#include <math.h>
#include <string.h>

// A particle or node while the levels are built.
typedef struct net_site {
  double mass;
  tn_pos rest, at;   // m, at rest: its mean; that of the finer node that it was chosen from
  bool pinned, flat; // flat: of a body whose rest shape is
} net_site;

typedef struct net_edge {
  int32_t a, b; // solver indices
  float length; // m, at most so far apart
} net_edge;

// The graph of the finest level so far. Arrays by solver index begin with the one of `first`.
typedef struct net_graph {
  const soft_system *system;
  net_site *site; // by solver index
  net_edge *edge, *coarse_edge;
  net_edge *neighbor; // `a` is the neighbour
  int32_t *neighbor_first, *coarse, *marked;
  int32_t first, last, edge_count, coarse_count, coarse_edge_count;
  int32_t site_capacity, edge_capacity, coarse_edge_capacity, neighbor_capacity,
      neighbor_first_capacity, coarse_capacity, marked_capacity;
} net_graph;

static bool is_net(const soft *s)
{
  return s->alive && s->first > 0 && !s->chained && s->particle_count >= TUNING_NET_MIN_PARTICLES &&
         s->list[SOFT_EDGE].count > 0;
}

static const EdgeParams *edge_params(const soft *s, int32_t index)
{
  soft_layout l = soft_layout_of(SOFT_EDGE);
  return (const EdgeParams *)(s->list[SOFT_EDGE].fields +
                              (size_t)index * (size_t)(l.params + l.state));
}

// The substep from which on a net needs levels. Loads cross one edge a pass: a net of n particles
// that hangs by a corner is stretched by about g h^2 sqrt(n) / length.
static float longest_resolved(const soft *s)
{
  double sum = 0.0, count = 0.0;
  for (int32_t i = 0; i < s->list[SOFT_EDGE].count; ++i) {
    const EdgeParams *edge = edge_params(s, i);
    sum += edge->compliance > 0.0f ? 0.0 : (double)edge->rest;
    count += edge->compliance > 0.0f ? 0.0 : 1.0;
  }
  return count > 0.0
             ? (float)sqrt(TUNING_NET_STRETCH * sum / (count * sqrt((double)s->particle_count)))
             : INFINITY;
}

// Whether the rest positions lie in a plane: edges then bound distances in a straight line.
static bool is_flat(const soft *s)
{
  tn_pos origin = pos_from_vec3(s->particles[0].rest), far = {0}, normal = {0};
  double size = 0.0;
  for (int round = 0; round < 2; ++round) {
    double most = 0.0;
    for (int32_t i = 1; i < s->particle_count; ++i) {
      tn_pos x = pos_sub(pos_from_vec3(s->particles[i].rest), origin);
      tn_pos cross = round ? pos_cross(far, x) : x;
      if (pos_dot(cross, cross) > most) {
        most = pos_dot(cross, cross);
        normal = cross;
      }
    }
    far = round ? far : normal;
    size = round ? size : sqrt(most);
  }
  double worst = 0.0, length = sqrt(pos_dot(normal, normal));
  for (int32_t i = 1; i < s->particle_count; ++i) {
    tn_pos x = pos_sub(pos_from_vec3(s->particles[i].rest), origin);
    worst = fmax(worst, fabs(pos_dot(x, normal)));
  }
  return worst <= 1e-3 * size * length;
}

static bool add_edge(heap *h, net_edge **edge, int32_t *count, int32_t *capacity, net_edge value)
{
  if (!heap_reserve(h, (void **)edge, capacity, *count + 1, sizeof **edge)) {
    return false;
  }
  (*edge)[(*count)++] = value;
  return true;
}

// The particles and rigid edges of a body.
static bool add_net(net_graph *b, const soft *s)
{
  bool flat = is_flat(s), ok = true;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    const soft_particle *p = &s->particles[i];
    tn_pos rest = pos_from_vec3(p->rest);
    b->site[s->first + i] =
        (net_site){(double)p->mass, rest, rest, .pinned = p->pinned != 0, .flat = flat};
  }
  for (int32_t i = 0; i < s->list[SOFT_EDGE].count && ok; ++i) {
    const int32_t *v = s->list[SOFT_EDGE].members + 2 * (size_t)i;
    const EdgeParams *edge = edge_params(s, i);
    net_edge e = {s->first + v[0], s->first + v[1], edge->rest};
    ok = edge->compliance > 0.0f ||
         add_edge(b->system->heap, &b->edge, &b->edge_count, &b->edge_capacity, e);
  }
  return ok;
}

static bool find_neighbors(net_graph *b)
{
  heap *h = b->system->heap;
  int32_t count = b->last - b->first;
  if (!heap_reserve(h, (void **)&b->neighbor_first, &b->neighbor_first_capacity, count + 2,
                    sizeof *b->neighbor_first) ||
      !heap_reserve(h, (void **)&b->neighbor, &b->neighbor_capacity, 2 * b->edge_count,
                    sizeof *b->neighbor)) {
    return false;
  }
  int32_t *from = b->neighbor_first;
  memset(from, 0, ((size_t)count + 2) * sizeof *from);
  for (int32_t i = 0; i < b->edge_count; ++i) {
    from[b->edge[i].a - b->first + 2] += 1;
    from[b->edge[i].b - b->first + 2] += 1;
  }
  for (int32_t i = 0; i < count; ++i) {
    from[i + 2] += from[i + 1];
  }
  for (int32_t i = 0; i < b->edge_count; ++i) {
    const net_edge *e = &b->edge[i];
    b->neighbor[from[e->a - b->first + 1]++] = (net_edge){e->b, e->a, e->length};
    b->neighbor[from[e->b - b->first + 1]++] = (net_edge){e->a, e->b, e->length};
  }
  return true;
}

// Chooses nodes of which no two are neighbours, pins first. coarse[i]: solver index of the node
// that was chosen from i, NO_SLOT: has a chosen neighbour, or no neighbours at all.
static bool choose_nodes(net_graph *b)
{
  int32_t count = b->last - b->first;
  if (!heap_reserve(b->system->heap, (void **)&b->coarse, &b->coarse_capacity, count,
                    sizeof *b->coarse)) {
    return false;
  }
  memset(b->coarse, 0, (size_t)count * sizeof *b->coarse); // 0: undecided
  b->coarse_count = 0;
  for (int32_t k = 0; k < 2 * count; ++k) {
    int32_t i = k % count;
    if (b->coarse[i] != 0 || (k < count && !b->site[b->first + i].pinned)) {
      continue;
    }
    int32_t from = b->neighbor_first[i], to = b->neighbor_first[i + 1];
    b->coarse[i] = to > from ? b->last + b->coarse_count++ : NO_SLOT;
    for (; from < to; ++from) {
      b->coarse[b->neighbor[from].a - b->first] = NO_SLOT;
    }
  }
  return true;
}

static bool add_pull(net_graph *b, int32_t *count, int32_t node, float weight)
{
  soft_nets *nets = &b->system->graph->nets;
  if (!heap_reserve(b->system->heap, (void **)&nets->pull, &nets->pull_capacity, *count + 1,
                    sizeof *nets->pull)) {
    return false;
  }
  nets->pull[(*count)++] = (net_link){node, weight};
  return true;
}

// Nodes pull at what they were chosen from, and at its neighbours by the inverse of their distance.
static bool add_pulls(net_graph *b)
{
  soft_nets *nets = &b->system->graph->nets;
  bool ok = true;
  for (int32_t i = 0; i < b->last - b->first && ok; ++i) {
    int32_t first = nets->pull_first[b->first + i], at = first;
    ok = b->coarse[i] == NO_SLOT || add_pull(b, &at, b->coarse[i], 1.0f);
    for (int32_t k = b->neighbor_first[i]; k < b->neighbor_first[i + 1] && ok; ++k) {
      int32_t node = b->coarse[b->neighbor[k].a - b->first];
      float length = fmaxf(b->neighbor[k].length, TUNING_SOFT_MIN_LENGTH);
      ok = node == NO_SLOT || add_pull(b, &at, node, 1.0f / length);
    }
    float sum = 0.0f;
    for (int32_t k = first; k < at; ++k) {
      sum += nets->pull[k].weight;
    }
    for (int32_t k = first; k < at; ++k) {
      nets->pull[k].weight /= sum;
    }
    nets->pull_first[b->first + i + 1] = at;
  }
  return ok;
}

// Masses and rest positions of the nodes. A node that was chosen from a pin is that pin.
static bool add_sites(net_graph *b)
{
  const soft_nets *nets = &b->system->graph->nets;
  int32_t end = b->last + b->coarse_count;
  if (!heap_reserve(b->system->heap, (void **)&b->site, &b->site_capacity, end, sizeof *b->site)) {
    return false;
  }
  memset(b->site + b->last, 0, (size_t)b->coarse_count * sizeof *b->site);
  for (int32_t i = b->first; i < b->last; ++i) {
    const net_site *from = &b->site[i];
    for (int32_t k = nets->pull_first[i]; k < nets->pull_first[i + 1]; ++k) {
      net_site *to = &b->site[nets->pull[k].node];
      double mass = (double)nets->pull[k].weight * from->mass;
      to->rest = pos_add(to->rest, pos_scale(mass, from->rest));
      to->mass += mass;
    }
  }
  for (int32_t i = b->first; i < b->last; ++i) {
    const net_site *from = &b->site[i];
    if (b->coarse[i - b->first] != NO_SLOT) {
      net_site *to = &b->site[b->coarse[i - b->first]];
      to->rest = from->pinned ? from->rest : pos_scale(1.0 / to->mass, to->rest);
      to->at = from->rest;
      to->pinned = from->pinned;
      to->flat = from->flat;
    }
  }
  return true;
}

// One round over the pulls of the level: counts the parts of node i in end[i + 1], or stores them
// at end[i]++. The only part of a pinned node is its pin.
static void each_part(const net_graph *b, int32_t *end, bool storing)
{
  const soft_nets *nets = &b->system->graph->nets;
  for (int32_t i = b->first; i < b->last; ++i) {
    for (int32_t k = nets->pull_first[i]; k < nets->pull_first[i + 1]; ++k) {
      const net_link *pull = &nets->pull[k];
      const net_site *site = &b->site[pull->node];
      bool is_part = !site->pinned || b->coarse[i - b->first] == pull->node;
      float weight = (float)((double)pull->weight * b->site[i].mass / site->mass);
      int32_t node = pull->node - b->last;
      if (is_part && storing) {
        nets->part[end[node]++] = (net_link){i, site->pinned ? 1.0f : weight};
      } else if (is_part) {
        end[node + 1] += 1;
      }
    }
  }
}

// The transpose of the pulls.
static bool add_parts(net_graph *b)
{
  heap *h = b->system->heap;
  soft_nets *nets = &b->system->graph->nets;
  int32_t from = b->last - nets->first_node, count = b->coarse_count;
  if (!heap_reserve(h, (void **)&nets->part_first, &nets->part_first_capacity, from + count + 2,
                    sizeof *nets->part_first)) {
    return false;
  }
  int32_t *end = nets->part_first + from + 1; // of the parts of each node, once they are stored
  memset(end, 0, ((size_t)count + 1) * sizeof *end);
  each_part(b, end, false);
  end[0] = end[-1];
  for (int32_t i = 0; i < count; ++i) {
    end[i + 1] += end[i];
  }
  if (!heap_reserve(h, (void **)&nets->part, &nets->part_capacity, end[count],
                    sizeof *nets->part)) {
    return false;
  }
  each_part(b, end, true);
  return true;
}

static double distance(tn_pos a, tn_pos b)
{
  tn_pos off = pos_sub(a, b);
  return sqrt(pos_dot(off, off));
}

// How far apart two nodes may be: the way over edges between the finer nodes that they were chosen
// from, and what they are off these. In a plane their distance at rest is a better bound, unless
// the way leads around something.
static void set_length(const net_graph *b, net_edge *e)
{
  const net_site *a = &b->site[e->a], *c = &b->site[e->b];
  if (a->flat && (double)e->length <= TUNING_NET_DETOUR * distance(a->at, c->at)) {
    e->length = (float)distance(a->rest, c->rest);
  } else {
    e->length += (float)(distance(a->rest, a->at) + distance(c->rest, c->at));
  }
}

// Edges from `node` to later ones that are within some hops of particle i, by the shortest way.
// marked[]: 1 + the latest edge to a node; edges up to `first` are of other nodes.
static bool link_node(net_graph *b, int32_t node, int32_t first, int32_t i, float length, int hops)
{
  bool ok = true;
  for (int32_t k = b->neighbor_first[i]; k < b->neighbor_first[i + 1] && ok; ++k) {
    int32_t at = b->neighbor[k].a - b->first, other = b->coarse[at];
    float way = length + b->neighbor[k].length;
    int32_t *edge = other > node ? &b->marked[other - b->last] : NULL;
    if (edge && *edge > first) {
      net_edge *known = &b->coarse_edge[*edge - 1];
      known->length = fminf(known->length, way);
    } else if (edge) {
      ok = add_edge(b->system->heap, &b->coarse_edge, &b->coarse_edge_count,
                    &b->coarse_edge_capacity, (net_edge){node, other, way});
      *edge = b->coarse_edge_count;
    }
    ok = ok && (hops == 1 || link_node(b, node, first, at, way, hops - 1));
  }
  return ok;
}

// Nodes that pull at the same finer one, or at neighbours, are at most three hops apart.
static bool add_coarse_edges(net_graph *b)
{
  if (!heap_reserve(b->system->heap, (void **)&b->marked, &b->marked_capacity, b->coarse_count + 1,
                    sizeof *b->marked)) {
    return false;
  }
  memset(b->marked, 0, (size_t)b->coarse_count * sizeof *b->marked);
  b->coarse_edge_count = 0;
  bool ok = true;
  for (int32_t i = 0; i < b->last - b->first && ok; ++i) {
    ok = b->coarse[i] == NO_SLOT || link_node(b, b->coarse[i], b->coarse_edge_count, i, 0.0f, 3);
  }
  for (int32_t i = 0; i < b->coarse_edge_count; ++i) {
    set_length(b, &b->coarse_edge[i]);
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Rows

// Greedy colours of the level's rows, in `color` by row; counts them in `group`.
static void color_rows(const net_graph *b, uint64_t *used, uint8_t *color, int32_t *group)
{
  for (int32_t i = 0; i < b->edge_count; ++i) {
    const net_edge *e = &b->edge[i];
    uint64_t taken = used[e->a - b->first] | used[e->b - b->first];
    int at = 0;
    while (at < MAX_COLORS && (taken >> at & 1)) {
      at += 1;
    }
    if (at < MAX_COLORS) {
      used[e->a - b->first] |= 1ull << at;
      used[e->b - b->first] |= 1ull << at;
    }
    color[i] = (uint8_t)at;
    group[at] += 1;
  }
}

// Appends the edges of the graph as rows of the level.
static bool add_rows(const net_graph *b, net_level *level)
{
  heap *h = b->system->heap;
  soft_rows *rows = &b->system->graph->data.rows[SOFT_NET];
  size_t used_size = (size_t)(b->last - b->first) * sizeof(uint64_t);
  size_t color_size = (size_t)b->edge_count + 1;
  uint64_t *used = heap_alloc(h, used_size);
  uint8_t *color = heap_alloc(h, color_size);
  int32_t group[MAX_COLORS + 1] = {0}, first = rows->block_count, end = first;
  if (used && color) {
    color_rows(b, used, color, group);
    end = lay_out_colors(&level->rows, first, group, 1, MAX_COLORS);
  }
  bool ok = used && color &&
            heap_reserve(h, (void **)&rows->row, &rows->block_capacity, end,
                         soft_first_row(SOFT_NET, 1) * sizeof *rows->row);
  if (ok) {
    rows->block_count = end;
    memset(rows->row + soft_first_row(SOFT_NET, first), 0,
           soft_first_row(SOFT_NET, end - first) * sizeof *rows->row);
  }
  for (int32_t i = 0; i < b->edge_count && ok; ++i) {
    int32_t at = group[color[i]];
    size_t row = soft_first_row(SOFT_NET, at / BLOCK_WIDTH);
    rows->solver_index[row][at % BLOCK_WIDTH] = b->edge[i].a;
    rows->solver_index[row + 1][at % BLOCK_WIDTH] = b->edge[i].b;
    rows->row[row + 2][at % BLOCK_WIDTH] = b->edge[i].length;
    group[color[i]] += color[i] == MAX_COLORS ? BLOCK_WIDTH : 1;
  }
  heap_free(h, used, used_size);
  heap_free(h, color, color_size);
  return ok;
}

// ---------------------------------------------------------------------------------------------

// The next level; false without memory. The edges of the graph become those of the new level.
static bool add_level(net_graph *b)
{
  soft_nets *nets = &b->system->graph->nets;
  if (!heap_reserve(b->system->heap, (void **)&nets->pull_first, &nets->pull_first_capacity,
                    b->last + 1, sizeof *nets->pull_first) ||
      !find_neighbors(b) || !choose_nodes(b) || !add_pulls(b) || !add_sites(b) || !add_parts(b) ||
      !add_coarse_edges(b)) {
    return false;
  }
  net_edge *edge = b->edge;
  int32_t capacity = b->edge_capacity;
  b->edge = b->coarse_edge;
  b->edge_count = b->coarse_edge_count;
  b->edge_capacity = b->coarse_edge_capacity;
  b->coarse_edge = edge;
  b->coarse_edge_capacity = capacity;
  b->first = b->last;
  b->last += b->coarse_count;
  net_level *level = &nets->level[nets->level_count];
  *level = (net_level){.first = b->first, .last = b->last};
  nets->level_count += 1;
  return add_rows(b, level);
}

static bool add_levels(net_graph *b)
{
  soft_nets *nets = &b->system->graph->nets;
  bool ok = heap_reserve(b->system->heap, (void **)&nets->pull_first, &nets->pull_first_capacity, 1,
                         sizeof *nets->pull_first) &&
            heap_reserve(b->system->heap, (void **)&nets->part_first, &nets->part_first_capacity, 1,
                         sizeof *nets->part_first);
  if (ok) {
    nets->pull_first[0] = nets->part_first[0] = 0;
  }
  while (ok && b->edge_count > 0 && nets->level_count < NET_LEVELS) {
    ok = add_level(b);
  }
  return ok;
}

// States of the nodes; soft_nets_restrict() sets the rest.
static bool add_node_states(const net_graph *b)
{
  heap *h = b->system->heap;
  soft_graph *g = b->system->graph;
  soft_nets *nets = &g->nets;
  if (!heap_reserve(h, (void **)&g->at, &g->particle_capacity, b->last, sizeof *g->at) ||
      !heap_reserve(h, (void **)&g->data.particles, &g->data_capacity, b->last,
                    sizeof *g->data.particles) ||
      !heap_reserve(h, (void **)&nets->before, &nets->before_capacity, b->last - nets->first_node,
                    sizeof *nets->before)) {
    return false;
  }
  for (int32_t i = nets->first_node; i < b->last; ++i) {
    float w = b->site[i].pinned ? 0.0f : (float)(1.0 / b->site[i].mass);
    g->data.particles[i] = (particle_state){.inverse_mass = w, .constraint_count = 1.0f};
  }
  return true;
}

static void release_graph(heap *h, net_graph *b)
{
  heap_free(h, b->site, (size_t)b->site_capacity * sizeof *b->site);
  heap_free(h, b->edge, (size_t)b->edge_capacity * sizeof *b->edge);
  heap_free(h, b->coarse_edge, (size_t)b->coarse_edge_capacity * sizeof *b->coarse_edge);
  heap_free(h, b->neighbor, (size_t)b->neighbor_capacity * sizeof *b->neighbor);
  heap_free(h, b->neighbor_first, (size_t)b->neighbor_first_capacity * sizeof *b->neighbor_first);
  heap_free(h, b->coarse, (size_t)b->coarse_capacity * sizeof *b->coarse);
  heap_free(h, b->marked, (size_t)b->marked_capacity * sizeof *b->marked);
}

bool soft_nets_build(const soft_system *system, float h)
{
  soft_graph *g = system->graph;
  soft_nets *nets = &g->nets;
  int32_t particles = g->solver_particle_count;
  net_graph b = {.system = system, .last = particles};
  bool ok = true;
  nets->level_count = 0;
  nets->first_node = particles;
  nets->least_h = 0.0f;
  nets->below_h = INFINITY;
  g->data.rows[SOFT_NET].block_count = 0;
  for (int32_t i = 0; i < system->soft_pool->used && ok && RULE(soft_nets); ++i) {
    const soft *s = &system->softs[i];
    if (!is_net(s) || system->method != TN_METHOD_TENON) {
      continue;
    }
    float longest = longest_resolved(s);
    if (h < longest) {
      nets->below_h = fminf(nets->below_h, longest);
    } else {
      nets->least_h = fmaxf(nets->least_h, longest);
      ok = heap_reserve(system->heap, (void **)&b.site, &b.site_capacity, particles,
                        sizeof *b.site) &&
           add_net(&b, s);
    }
  }
  if (b.edge_count > 0) {
    ok = ok && add_levels(&b) && add_node_states(&b);
  }
  release_graph(system->heap, &b);
  nets->level_count = ok ? nets->level_count : 0;
  return ok;
}

void soft_nets_release(heap *h, soft_nets *nets)
{
  heap_free(h, nets->part_first, (size_t)nets->part_first_capacity * sizeof *nets->part_first);
  heap_free(h, nets->part, (size_t)nets->part_capacity * sizeof *nets->part);
  heap_free(h, nets->pull_first, (size_t)nets->pull_first_capacity * sizeof *nets->pull_first);
  heap_free(h, nets->pull, (size_t)nets->pull_capacity * sizeof *nets->pull);
  heap_free(h, nets->before, (size_t)nets->before_capacity * sizeof *nets->before);
}
