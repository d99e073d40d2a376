// Coarse levels of nets in a substep, see soft_nets.h: means of nodes, and their motion back to the
// particles.
#include "base/dvec.h"
#include "solver/soft/soft_steps.h"

#define NODE_GRAIN 64 // nodes in a task: about 2 us

typedef struct net_task {
  soft_graph *graph;
  int32_t first; // solver index of item 0
} net_task;

static void pack_nodes_task(int first, int last, void *context)
{
  const net_task *t = context;
  soft_graph *g = t->graph;
  const soft_nets *nets = &g->nets;
  for (int32_t i = t->first + first; i < t->first + last; ++i) {
    int32_t k = nets->part_first[i - nets->first_node];
    tn_pos origin = g->at[nets->part[k].node], sum = {0};
    for (; k < nets->part_first[i - nets->first_node + 1]; ++k) {
      tn_pos off = pos_sub(g->at[nets->part[k].node], origin);
      sum = pos_add(sum, pos_scale((double)nets->part[k].weight, off));
    }
    g->at[i] = pos_add(origin, sum);
  }
}

void soft_nets_pack(const soft_system *system)
{
  soft_nets *nets = &system->graph->nets;
  for (int i = 0; i < nets->level_count; ++i) {
    net_task task = {system->graph, nets->level[i].first};
    task_run(system->tasks, pack_nodes_task, nets->level[i].last - nets->level[i].first, NODE_GRAIN,
             &task);
  }
}

void soft_nets_restrict(soft_graph *g, int first, int last)
{
  const soft_nets *nets = &g->nets;
  for (int32_t i = first; i < last; ++i) {
    int32_t node = i - nets->first_node;
    float sum[8] = {0.0f};
    for (int32_t k = nets->part_first[node]; k < nets->part_first[node + 1]; ++k) {
      const float *from = g->data.particles[nets->part[k].node].line;
      for (int c = 0; c < 8; ++c) {
        sum[c] += nets->part[k].weight * from[c];
      }
    }
    particle_state *p = &g->data.particles[i];
    for (int c = 0; c < 3; ++c) {
      nets->before[node][c] = p->v[c] = sum[c];
      p->dx[c] = sum[4 + c];
    }
  }
}

void soft_nets_prolong(soft_graph *g, int first, int last)
{
  const soft_nets *nets = &g->nets;
  for (int32_t i = first; i < last; ++i) {
    particle_state *to = &g->data.particles[i];
    for (int32_t k = nets->pull_first[i]; k < nets->pull_first[i + 1] && to->inverse_mass > 0.0f;
         ++k) {
      const net_link *pull = &nets->pull[k];
      const float *before = nets->before[pull->node - nets->first_node];
      for (int c = 0; c < 3; ++c) {
        to->v[c] += pull->weight * (g->data.particles[pull->node].v[c] - before[c]);
      }
    }
  }
}
