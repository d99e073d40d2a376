#include "record.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Tables

static int read_metrics(const scene_run *run, scene_metric *list)
{
  int count = scene_metrics(run, list, SCENE_MAX_METRICS);
  return count < SCENE_MAX_METRICS ? count : SCENE_MAX_METRICS;
}

static void write_csv_head(FILE *file, const scene_run *run)
{
  scene_metric list[SCENE_MAX_METRICS];
  int count = read_metrics(run, list);
  fputs("frame,time,ms", file);
  for (int i = 0; i < count; ++i) {
    fprintf(file, ",%s", list[i].name);
  }
  fputc('\n', file);
}

static void write_csv_line(FILE *file, const scene_run *run, double ms)
{
  scene_metric list[SCENE_MAX_METRICS];
  int count = read_metrics(run, list);
  fprintf(file, "%d,%.9g,%.6g", run->frames, run->time, ms);
  for (int i = 0; i < count; ++i) {
    fprintf(file, ",%.9g", list[i].value);
  }
  fputc('\n', file);
}

static void write_poses(FILE *file, const scene_run *run)
{
  for (int i = 0; i < run->body_count; ++i) {
    tn_transform at = tn_body_transform(run->world, run->bodies[i]);
    fprintf(file, "%d,%.9g,%d,%.17g,%.17g,%.17g,%.9g,%.9g,%.9g,%.9g\n", run->frames, run->time, i,
            at.p.x, at.p.y, at.p.z, (double)at.q.x, (double)at.q.y, (double)at.q.z, (double)at.q.w);
  }
}

// Particles have a position but no rotation.
static void write_particles(FILE *file, const scene_run *run)
{
  int count = tn_world_softs(run->world, NULL, 0);
  tn_soft_id *ids = calloc((size_t)count + 1, sizeof *ids);
  count = ids ? tn_world_softs(run->world, ids, count) : 0;
  for (int i = 0; i < count; ++i) {
    int particles = tn_soft_positions(run->world, ids[i], NULL, 0);
    for (int k = 0; k < particles; ++k) {
      tn_pos at = tn_soft_position(run->world, ids[i], k);
      fprintf(file, "%d,%.9g,soft %d.%d,%.9g,%.9g,%.9g,,,,\n", run->frames, run->time, i, k, at.x,
              at.y, at.z);
    }
  }
  free(ids);
}

// ---------------------------------------------------------------------------------------------
// A snapshot

static bool write_snapshot(FILE *file, const scene_run *run)
{
  size_t size = scene_save(run, NULL, 0);
  char *bytes = size > 0 ? malloc(size) : NULL;
  if (!bytes) {
    return false;
  }
  scene_save(run, bytes, size);
  fwrite(bytes, size, 1, file);
  free(bytes);
  return true;
}

// ---------------------------------------------------------------------------------------------
// All files

bool record_open(record *r, const run_options *options, const scene_run *run)
{
  memset(r, 0, sizeof *r);
  if (!output_open(&r->csv, options->csv) || !output_open(&r->poses, options->poses) ||
      !output_open(&r->glb, options->glb) || !output_open(&r->snapshot, options->snapshot)) {
    record_abandon(r);
    return false;
  }
  if (r->csv.file) {
    write_csv_head(r->csv.file, run);
  }
  if (r->poses.file) {
    fputs("frame,time,body,x,y,z,qx,qy,qz,qw\n", r->poses.file);
    write_poses(r->poses.file, run);
    write_particles(r->poses.file, run);
  }
  r->film = r->glb.file ? film_create(run) : NULL;
  if (r->glb.file && (!r->film || !film_record(r->film, run))) {
    complain("not enough memory for the motion of %d bodies", run->body_count);
    record_abandon(r);
    return false;
  }
  return true;
}

bool record_frame(record *r, const scene_run *run, double ms)
{
  if (r->csv.file) {
    write_csv_line(r->csv.file, run, ms);
  }
  if (r->poses.file) {
    write_poses(r->poses.file, run);
    write_particles(r->poses.file, run);
  }
  if (r->film && !film_record(r->film, run)) {
    complain("not enough memory for the motion of %d bodies over %d frames", run->body_count,
             run->frames);
    return false;
  }
  return true;
}

bool record_finish(record *r, const scene_run *run)
{
  if (r->film && !film_write(r->film, run, r->glb.file)) {
    complain("the motion is too large for '%s'", r->glb.path);
    record_abandon(r);
    return false;
  }
  if (r->snapshot.file && !write_snapshot(r->snapshot.file, run)) {
    complain("not enough memory for the snapshot '%s'", r->snapshot.path);
    record_abandon(r);
    return false;
  }
  bool ok = output_finish(&r->csv);
  ok = output_finish(&r->poses) && ok;
  ok = output_finish(&r->glb) && ok;
  ok = output_finish(&r->snapshot) && ok;
  record_abandon(r);
  return ok;
}

void record_abandon(record *r)
{
  output_abandon(&r->csv);
  output_abandon(&r->poses);
  output_abandon(&r->glb);
  output_abandon(&r->snapshot);
  film_destroy(r->film);
  r->film = NULL;
}
