#!/usr/bin/env node
// Compares models with MuJoCo's reading of them, by hand:
//   node check_models.mjs MODEL_DUMP FILE...
import { execFileSync } from "node:child_process";
import { compare, describe } from "./compare.mjs";
import { dump, load } from "./mujoco.mjs";

const [program, ...files] = process.argv.slice(2);
for (const file of files) {
  const urdf = /\.urdf$/.test(file);
  try {
    const ours = JSON.parse(
      execFileSync(program, ["--fixed", file], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 }),
    );
    const model = load(file);
    const theirs = dump(model);
    model.delete();
    const options = urdf ? { byName: true, masses: false } : {};
    console.log(`${file}: nq ${ours.nq}/${theirs.nq}; ${describe(compare(ours, theirs, options))}`);
  } catch (error) {
    console.log(`${file}: ${String(error.stderr || error.message).trim()}`);
  }
}
