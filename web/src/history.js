// The last seconds as snapshots. For large states only some frames are kept; the others are
// recomputed by stepping, which gives the same bits.
const FRAMES = 600;
const BUDGET = 128e6; // bytes
const SMALL = 150e3;

export class History {
  constructor(sim) {
    this.sim = sim;
    this.clear();
  }

  clear() {
    this.kept = []; // { frame, state }, ascending
    this.bytes = 0;
    this.last = 0;
  }

  get first() {
    return this.kept.length ? this.kept[0].frame : this.last;
  }

  // Call after every step; `mustKeep` after an interaction, which stepping would not reproduce.
  note(frame, mustKeep) {
    this.last = frame;
    const newest = this.kept[this.kept.length - 1];
    const every = newest ? Math.max(1, Math.ceil(newest.state.length / SMALL)) : 1;
    if (newest && frame < newest.frame + every && !mustKeep) return;
    this.keep(frame);
  }

  keep(frame) {
    this.forgetFrom(frame);
    const state = this.sim.save();
    this.kept.push({ frame, state });
    this.bytes += state.length;
    while (this.kept.length > 2 && (this.bytes > BUDGET || frame - this.kept[0].frame > FRAMES)) {
      this.bytes -= this.kept.shift().state.length;
    }
    this.last = frame;
  }

  // Drops the frames after a frame, which an interaction has made invalid.
  forgetFrom(frame) {
    while (this.kept.length && this.kept[this.kept.length - 1].frame >= frame) {
      this.bytes -= this.kept.pop().state.length;
    }
  }

  // Restores a frame; later frames stay available for going forward.
  goTo(frame) {
    let from = null;
    for (const entry of this.kept) if (entry.frame <= frame) from = entry;
    if (!from || !this.sim.restore(from.state)) return false;
    for (let at = from.frame; at < frame; ++at) this.sim.step();
    return true;
  }
}
