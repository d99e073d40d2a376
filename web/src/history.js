// The last seconds as snapshots. Where a state is large only some frames are kept and the others
// found by stepping on: the same bits come out again.
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

  // Call after every step; `mustKeep` where somebody interfered and stepping would not find it.
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

  // What was after a frame is no longer so: somebody interfered.
  forgetFrom(frame) {
    while (this.kept.length && this.kept[this.kept.length - 1].frame >= frame) {
      this.bytes -= this.kept.pop().state.length;
    }
  }

  // Takes the simulation to a frame; the rest of the past stays for going forward again.
  goTo(frame) {
    let from = null;
    for (const entry of this.kept) if (entry.frame <= frame) from = entry;
    if (!from || !this.sim.restore(from.state)) return false;
    for (let at = from.frame; at < frame; ++at) this.sim.step();
    return true;
  }
}
