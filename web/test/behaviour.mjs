// Tests of the interaction with the page.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { check } from './check.mjs';

// Changes the address of an open page; loading a new one takes seconds.
async function visit(page, words) {
  await page.evaluate((hash) => {
    const { app } = globalThis.tenon;
    app.frameNode.message.replaceChildren();
    history.replaceState(null, '', hash);
    app.written = null;
    app.readAddress();
  }, words);
}

// Screen position of the first dynamic body.
function bodyOnScreen() {
  const { app } = globalThis.tenon;
  const { items } = app.stage.sides[0].bodies;
  const matrices = app.sims[0].matrices();
  const index = items.findIndex((_, i) => app.sims[0].massOf(i) > 0);
  const at = [...matrices.subarray(16 * index + 12, 16 * index + 15)];
  const box = app.stage.canvas.getBoundingClientRect();
  const { x, y } = app.stage.toScreen(at, 0);
  return { x: box.left + x, y: box.top + y, at };
}

async function drag(page, pictures) {
  await visit(page, '#scene=springs3');
  const from = await page.evaluate(bodyOnScreen);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 10, { steps: 4 });
  const label = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    for (let i = 0; i < 30; ++i) app.advance();
    app.draw();
    return document.querySelector('.labels .hand')?.textContent;
  });
  await page.screenshot({ path: join(pictures, 'drag.png') });
  const to = await page.evaluate(bodyOnScreen);
  check('drag shows a force', /[1-9].* k?m?N$/.test(label ?? ''), label);
  check('drag moves the body', to.at[0] > from.at[0] + 0.05, `${from.at[0]} to ${to.at[0]}`);
  await page.mouse.up();
  const holds = await page.evaluate(() => globalThis.tenon.app.sims[0].holdForce());
  check('letting go ends the force', holds === 0);
}

// A body that hangs on the hand pulls with its weight, and the spring stretches by weight times
// compliance.
async function holdStill(page) {
  await visit(page, '#scene=bounce');
  const { force, weight, sag } = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    const [sim] = app.sims;
    const item = app.stage.sides[0].bodies.items.findIndex((_, i) => sim.massOf(i) > 0);
    const heightOf = () => sim.matrices()[16 * item + 13];
    const at = [...sim.matrices().subarray(16 * item + 12, 16 * item + 15)];
    const mass = sim.massOf(item);
    sim.grab(item, at, 0.01 / mass);
    for (let i = 0; i < 240; ++i) {
      sim.dragTo(at);
      sim.step();
    }
    const weight = -mass * sim.numbers().gravity[1];
    return { force: sim.holdForce(), weight, sag: at[1] - heightOf() };
  });
  check('a held body weighs', Math.abs(force - weight) < 0.01 * weight, `${force}, ${weight}`);
  check('the spring stretches by its compliance', Math.abs(sag - 0.0981) < 0.002, `${sag}`);
}

async function throwing(page) {
  await visit(page, '#scene=sliding');
  await page.keyboard.press('t');
  const from = await page.evaluate(bodyOnScreen);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 40, from.y + 30, { steps: 3 });
  const label = await page.evaluate(() => {
    globalThis.tenon.app.draw();
    return document.querySelector('.labels .hand')?.textContent;
  });
  check('throw shows a speed', /m\/s$/.test(label ?? ''), label);
  const before = await page.evaluate(() => globalThis.tenon.app.sims[0].numbers().momentum);
  await page.mouse.up();
  const after = await page.evaluate(() => globalThis.tenon.app.sims[0].numbers().momentum);
  check('throw gives momentum', Math.abs(after - before) > 0.01, `${before}, ${after}`);
  await page.keyboard.press('d');
}

// Frames, substeps, slow motion, and the time bar.
async function time(page) {
  await visit(page, '#scene=pendulum_double&substeps=10');
  const now = () => page.evaluate(() => globalThis.tenon.app.sims[0].numbers().time);
  await page.keyboard.press('.');
  check('one frame', Math.abs((await now()) - 1 / 60) < 1e-6);
  await page.keyboard.press(',');
  check('one substep', Math.abs((await now()) - 1.1 / 60) < 1e-6, `${await now()}`);
  await page.keyboard.press('r');
  check('from the start', (await now()) === 0);
  await page.keyboard.press('s');
  const moved = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    app.setPlaying(true);
    for (let i = 0; i < 8; ++i) app.play(1 / 60);
    app.setPlaying(false);
    return { frame: app.frame, speed: app.speed, hash: app.sims[0].hash() };
  });
  check('slow motion', moved.speed === 0.5 && moved.frame === 4, JSON.stringify(moved));
  for (let i = 0; i < 3; ++i) await page.keyboard.press('s');
  const shown = await page.locator('.transport .hash').innerText();
  check('the hash is shown', shown === moved.hash, shown);
}

async function charts(page) {
  await visit(page, '#scene=stack');
  const tabs = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    for (let i = 0; i < 20; ++i) app.advance();
    const told = {};
    document.body.classList.remove('no-charts');
    for (const name of ['energy', 'momentum', 'error', 'depth', 'cost']) {
      app.charts.show(name);
      const [{ legend, unit }] = app.charts.plots;
      const lines = Object.values(app.charts.data(0)).map((values) => values[values.length - 1]);
      told[name] = { lines, unit, legend: legend.innerText };
    }
    const [, ...list] = app.charts.logs[0];
    const parts = list.map((f) => [f.pairs + f.manifolds + f.prepare + f.solve + f.finish, f]);
    app.charts.show('energy');
    document.body.classList.remove('no-panel');
    for (const details of document.querySelectorAll('details')) details.open = true;
    app.charts.draw();
    return {
      told,
      figures: app.charts.figures.querySelectorAll('dt').length,
      isWhole: parts.every(([sum, f]) => f.solve > 0 && sum <= f.milliseconds + 0.5),
    };
  });
  const { energy, momentum, error, depth, cost } = tabs.told;
  const [total, kinetic, potential, elastic] = energy.lines;
  const sum = kinetic + potential + elastic;
  check('energies add up', Math.abs(sum - total) < 1e-6 * Math.abs(total), `${energy.lines}`);
  check('energies have a unit', energy.unit === 'J' && /total\s+\S+ J/.test(energy.legend));
  check('momentum is charted', momentum.lines.length === 1);
  check('errors are charted', error.lines.every(Number.isFinite) && depth.lines[0] >= 0);
  check('time is charted by phase', cost.lines.length === 6 && /solving/.test(cost.legend));
  check('phases are within the frame', tabs.isWhole, JSON.stringify(cost.lines));
  check('the metrics of the scene are shown', tabs.figures > 3, `${tabs.figures}`);
}

async function tools(page) {
  await visit(page, '#scene=stack');
  const count = () =>
    page.evaluate(() => {
      const { app } = globalThis.tenon;
      app.advance();
      app.draw();
      return app.sims[0].numbers().bodies;
    });
  const before = await count();
  const use = async (key) => {
    const { x, y } = await page.evaluate(bodyOnScreen);
    await page.keyboard.press(key);
    await page.mouse.click(x, y);
    return count();
  };
  check('a box is made', (await use('b')) === before + 1);
  check('a ball is made', (await use('o')) === before + 2);
  check('a ragdoll is made', (await use('g')) === before + 12);
  const softs = () => page.evaluate(() => globalThis.tenon.app.sims[0].softs().length);
  await use('k');
  check('a cloth is made', (await softs()) === 1);
  check('a body is deleted', (await use('x')) === before + 11 || (await softs()) === 0);
  const joints = () => page.evaluate(() => globalThis.tenon.app.sims[0].numbers().joints);
  const held = await joints();
  await use('p');
  check('a body is pinned', (await joints()) === held + 1);
}

async function parameters(page) {
  await visit(page, '#scene=stack');
  await page.getByLabel('Controls', { exact: true }).first().click();
  const bodies = () => page.evaluate(() => globalThis.tenon.app.sims[0].numbers().bodies);
  const before = await bodies();
  const name = await page.evaluate(() => {
    const { scene } = globalThis.tenon.app;
    return scene.parameters.find((p) => p.whole).name.replaceAll('_', ' ');
  });
  const box = page.getByLabel(`${name}, exactly`);
  await box.fill('4');
  await box.press('Enter');
  await page.waitForFunction((n) => globalThis.tenon.app.sims[0].numbers().bodies !== n, before);
  check('a parameter takes effect', (await bodies()) < before, `${before}, ${await bodies()}`);
  check('a parameter is in the address', page.url().includes('p.'), page.url());
  const gravity = page.getByLabel('gravity, m/s², exactly');
  await gravity.fill('3');
  await gravity.press('Enter');
  const rises = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    for (let i = 0; i < 30; ++i) app.advance();
    return app.sims[0].numbers();
  });
  check('gravity takes effect', rises.gravity[1] === 3 && rises.kinetic > 0.1);
}

async function scrub(page) {
  await visit(page, '#scene=dominoes');
  const result = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    const run = (frames) => {
      for (let i = 0; i < frames; ++i) app.advance();
      return app.sims[0].hash();
    };
    run(40);
    const middle = app.sims[0].hash();
    const end = run(50);
    app.goTo(40);
    const again = app.sims[0].hash();
    return { middle, end, again, replay: run(50), frame: app.frame };
  });
  check('scrub finds the same state', result.again === result.middle);
  check('replay ends in the same state', result.replay === result.end && result.frame === 90);
}

// The background rotates the camera, another button moves it, the wheel brings it nearer.
async function camera(page) {
  await visit(page, '#scene=stack');
  const look = () =>
    page.evaluate(() => {
      const { app } = globalThis.tenon;
      for (let i = 0; i < 90; ++i) app.stage.controls.update();
      app.draw();
      const { eye, target } = app.stage.look;
      const way = eye.map((x, i) => x - target[i]);
      return { way, target, away: Math.hypot(...way) };
    });
  const box = await page.locator('canvas').first().boundingBox();
  const [x, y] = [box.x + 30, box.y + 60];
  const drag = async (button, dx, dy) => {
    await page.mouse.move(x, y);
    await page.mouse.down({ button });
    await page.mouse.move(x + dx, y + dy, { steps: 3 });
    await page.mouse.up({ button });
    return look();
  };
  const first = await look();
  const turned = await drag('left', 80, 0);
  const angle = ({ way }) => Math.atan2(way[0], way[2]);
  const wanted = (-2.2 * Math.PI * 80) / box.height;
  const error = Math.abs(Math.sin(angle(turned) - angle(first) - wanted));
  check('the background rotates the camera', error < 0.02, `${error}`);
  check('at the same distance', Math.abs(turned.away / first.away - 1) < 1e-4);
  check('the camera is in the address', page.url().includes('look='), page.url());
  const moved = await drag('right', 0, 40);
  check('the right button moves it', moved.target[1] > turned.target[1] + 0.1);
  await page.mouse.wheel(0, -300);
  await page.waitForTimeout(100);
  const near = await look();
  check('the wheel brings it nearer', Math.abs(near.away / moved.away - Math.exp(-0.36)) < 0.01);
}

// A click selects a body or a joint; sliders change its drives.
async function selecting(page, pictures) {
  await visit(page, '#scene=joints_basic');
  await page.keyboard.press('d');
  const jointOnScreen = (axis) =>
    page.evaluate((wanted) => {
      const { app } = globalThis.tenon;
      const [sim] = app.sims;
      const box = app.stage.canvas.getBoundingClientRect();
      const joints = sim.joints();
      const index = joints.findIndex(({ kind }, i) => {
        const { axes } = sim.jointFacts(i);
        return kind === 2 && axes.some((each) => each.index === wanted && each.damping > 1e3);
      });
      const { x, y } = app.stage.toScreen(joints[index].b, 0);
      return { x: box.left + x, y: box.top + y, index };
    }, axis);
  const joint = await jointOnScreen(3);
  const hash = () => page.evaluate(() => globalThis.tenon.app.sims[0].hash());
  const before = await hash();
  await page.mouse.click(joint.x, joint.y);
  await page.waitForSelector('.inspector:not([hidden])');
  const text = await page.locator('.inspector').innerText();
  check('a joint tells its forces', /Hinge/.test(text) && /torque\s+\S+ m?N m/.test(text), text);
  check('selecting changes nothing', (await hash()) === before);
  const field = page.locator('.inspector .field').filter({ hasText: 'velocity' }).locator('.exact');
  await field.fill('-3');
  await field.press('Enter');
  const rate = await page.evaluate((index) => {
    const { app } = globalThis.tenon;
    for (let i = 0; i < 60; ++i) app.advance();
    app.draw();
    const [sim] = app.sims;
    return sim.jointFacts(index).axes.find((each) => each.index === 3).rate;
  }, joint.index);
  check('the drive follows the slider', Math.abs(rate + 3) < 0.05, `${rate}`);
  await page.screenshot({ path: join(pictures, 'selected.png') });
  await page.keyboard.press('Escape');
  check('Escape ends the selection', await page.locator('.inspector').isHidden());
  await visit(page, '#scene=stack');
  await page.evaluate(() => {
    for (let i = 0; i < 60; ++i) globalThis.tenon.app.advance();
    globalThis.tenon.app.draw();
  });
  const body = await page.evaluate(bodyOnScreen);
  await page.mouse.click(body.x, body.y);
  await page.waitForSelector('.inspector:not([hidden])');
  const facts = await page.locator('.inspector').innerText();
  const isWhole = /mass\s+\S+ k?g/.test(facts) && /contact points\s+[48]/.test(facts);
  check('a body tells mass and contacts', isWhole, facts);
}

// The limits of a selected joint are drawn: the arc of a hinge spans its range.
async function limits(page) {
  await visit(page, '#scene=joint_zoo');
  const joint = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    const [sim] = app.sims;
    const isBounded = ({ lo, hi }) => Number.isFinite(lo) && Number.isFinite(hi);
    const index = sim
      .joints()
      .findIndex(({ kind }, i) => kind === 2 && sim.jointFacts(i).axes.every(isBounded));
    const box = app.stage.canvas.getBoundingClientRect();
    const { x, y } = app.stage.toScreen(sim.joints()[index].b, 0);
    const [{ lo, hi }] = sim.jointFacts(index).axes;
    return { x: box.left + x, y: box.top + y, wide: hi - lo };
  });
  const lines = () =>
    page.evaluate(() => {
      const { geometry, visible } = globalThis.tenon.app.stage.sides[0].overlay.lines.chosen.mesh;
      const count = visible ? geometry.drawRange.count : 0;
      return [...(geometry.getAttribute('position')?.array.slice(0, 3 * count) ?? [])];
    });
  check('no limits without a selection', (await lines()).length === 0);
  await page.mouse.click(joint.x, joint.y);
  await page.waitForSelector('.inspector:not([hidden])');
  const numbers = await lines();
  const point = (i) => numbers.slice(3 * i, 3 * i + 3);
  // From the origin to one end of the arc, 24 pieces, and back from the other end.
  const [origin, first, last] = [point(0), point(1), point(50)];
  const [a, b] = [first, last].map((p) => p.map((x, i) => x - origin[i]));
  const cosine = a.reduce((sum, x, i) => sum + x * b[i], 0) / Math.hypot(...a) / Math.hypot(...b);
  check(
    'the arc of a selected hinge spans its range',
    Math.abs(Math.acos(cosine) - joint.wide) < 1e-3,
    `${Math.acos(cosine)}, ${joint.wide}`,
  );
  await page.keyboard.press('Escape');
  check('limits go with the selection', (await lines()).length === 0);
}

// Belts move with their speed; ropes are as long as their couplings; struts end at their joints.
async function machines(page) {
  await visit(page, '#scene=conveyor');
  const moved = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    const { group } = app.stage.ground;
    const share = () => group.children[0].material.pattern % 1;
    app.draw();
    const before = share();
    for (let i = 0; i < 30; ++i) app.advance();
    app.draw();
    const period = 10 * group.children[0].cell;
    return { way: (share() - before) * period, wanted: 3 * 0.5, period };
  });
  const off = (moved.way - moved.wanted) / moved.period;
  check('the belt moves', Math.abs(off - Math.round(off)) < 0.002, JSON.stringify(moved));
  await visit(page, '#scene=tendon_finger');
  const tendon = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    for (let i = 0; i < 30; ++i) app.advance();
    const [sim] = app.sims;
    const size = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));
    const length = sim
      .ropes()
      .flatMap((path) => path.slice(1).map((p, i) => size(p, path[i])))
      .reduce((sum, x) => sum + x, 0);
    const { world } = sim;
    const id = world.couplings().find((each) => world.getCouplingDef(each).points.length > 1);
    return { length, wanted: world.getCouplingState(id).value - world.getCouplingDef(id).offset };
  });
  check(
    'the tendon is drawn along its path',
    Math.abs(tendon.length / tendon.wanted - 1) < 0.01,
    JSON.stringify(tendon),
  );
  await visit(page, '#scene=excavator');
  const struts = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    for (let i = 0; i < 30; ++i) app.advance();
    const [sim] = app.sims;
    const ends = sim.joints().flatMap(({ a, b }) => [a, b]);
    const away = (p) => Math.min(...ends.map((e) => Math.hypot(...e.map((x, i) => x - p[i]))));
    const list = sim.brackets();
    return { count: list.length, away: Math.max(...list.map(({ to }) => away(to))) };
  });
  const isRight = struts.count >= 5 && struts.away < 1e-3;
  check('cylinders sit in brackets', isRight, JSON.stringify(struts));
}

// Drops a text as a file on the page.
function dropped(page, text) {
  return page.evaluate(async (words) => {
    const data = new DataTransfer();
    data.items.add(new File([words], 'scene.json'));
    dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
  }, text);
}

// Scene files: dropped, with an error at its line, edited with completion, shared by link, written.
async function sceneFiles(page, pictures, nativeHash) {
  const manual = await readFile(new URL('../../docs/scene_files.md', import.meta.url), 'utf8');
  const [, seesaw] = /```json\n([^]*?)```/.exec(manual);
  const path = join(pictures, 'seesaw.json');
  await writeFile(path, seesaw);
  await visit(page, '#scene=stack');
  await dropped(page, seesaw);
  await page.waitForFunction(() => globalThis.tenon.app.scene.text);
  const hash = () =>
    page.evaluate(() => {
      const { app } = globalThis.tenon;
      app.reset();
      for (let i = 0; i < 60; ++i) app.advance();
      app.draw();
      return app.sims[0].hash();
    });
  const wanted = await nativeHash(path);
  check('a scene file has the native hash', (await hash()) === wanted);
  const title = await page.locator('h1').innerText();
  check('its title is shown', /seesaw/.test(title), title);
  const link = page.url();
  await visit(page, '#scene=stack');
  await dropped(page, seesaw.replace('0.05, 0.3]', '0.05, -0.3]'));
  await page.waitForSelector('.editor .wrong');
  const wrong = await page.locator('.editor .wrong').innerText();
  const reason = await page.locator('.editor .error').innerText();
  const line = seesaw.slice(0, seesaw.indexOf('0.05, 0.3]')).split('\n').length;
  check('the error of a broken file stands at its line', +wrong === line, `${wrong}, ${reason}`);
  check('and has its path', /half_extents/.test(reason), reason);
  check(
    'the scene before goes on',
    (await page.evaluate(() => globalThis.tenon.app.state.scene)) === 'stack',
  );
  await page.screenshot({ path: join(pictures, 'editor.png') });
  const text = page.locator('.editor textarea');
  await text.fill('{"tenon": 1, "shapes": [{"kind": "pla');
  await text.press('End');
  await page.keyboard.type('n');
  const offered = await page.locator('.completions').innerText();
  check('words of the schema are offered', /plane/.test(offered), offered);
  await page.keyboard.press('Tab');
  await page.keyboard.type('}], "bodies": [{"posi');
  await page.keyboard.press('Tab');
  await page.keyboard.type(', "shapes": [{"kind": "sphere", "radius": 0.5}]}]}');
  await page.waitForFunction(
    () => globalThis.tenon.app.scene.text && globalThis.tenon.app.sims[0].isOpen,
  );
  const bodies = await page.evaluate(() => globalThis.tenon.app.sims[0].numbers().bodies);
  check('what was typed runs', bodies === 1, await page.locator('.editor .error').innerText());
  await page.keyboard.press('Escape');
  await visit(page, new URL(link).hash);
  await page.waitForFunction(() => /seesaw/.test(globalThis.tenon.app.scene.title));
  check('a link holds the file', (await hash()) === wanted);
  await visit(page, '#scene=bridge&p.half_spans=4');
  await page.evaluate(() => globalThis.tenon.app.editor.open());
  const written = await text.inputValue();
  check('a scene is written as a file', /"tenon": 1/.test(written) && written.length > 2000);
  const before = await hash();
  await page.evaluate((words) => globalThis.tenon.app.openText(words), written);
  check('which runs like the scene', (await hash()) === before);
  await page.evaluate(() => globalThis.tenon.app.editor.close());
}

// The recorded video is a WebM file with frames.
async function video(page) {
  await visit(page, '#scene=pendulum_double');
  const { head, bytes } = await page.evaluate(async () => {
    const { app } = globalThis.tenon;
    app.isStill = false;
    app.recorder = null;
    document.body.classList.remove('no-panel');
    for (const details of document.querySelectorAll('details')) details.open = true;
    const record = [...document.querySelectorAll('.chip')].find(
      ({ textContent }) => textContent === 'Record video',
    );
    record.click();
    while (!app.recorder?.isOn) await new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const blob = await app.recorder.stop();
    record.textContent = 'Record video';
    app.isStill = true;
    const data = new Uint8Array(await blob.arrayBuffer());
    return { head: [...data.subarray(0, 4)].join(), bytes: data.length };
  });
  check('a video is WebM', head === '26,69,223,163' && bytes > 5000, `${head}, ${bytes} bytes`);
}

// The keys work after a click on any control, and controls keep the keys that adjust them.
async function keys(page) {
  await visit(page, '#scene=stack');
  await page.evaluate(() => {
    document.body.classList.remove('no-panel');
    for (let i = 0; i < 20; ++i) globalThis.tenon.app.advance();
    globalThis.tenon.app.draw();
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
  const frame = () => page.evaluate(() => globalThis.tenon.app.frame);
  const bar = await page.locator('.scrub').boundingBox();
  await page.mouse.click(bar.x + bar.width / 2, bar.y + bar.height / 2);
  const middle = await frame();
  check('the time bar goes back', middle > 0 && middle < 20, `${middle}`);
  await page.keyboard.press('ArrowLeft');
  check('arrow after scrubbing', (await frame()) === middle - 1, `${await frame()}`);
  await page.keyboard.press('.');
  check('key after scrubbing', (await frame()) === middle, `${await frame()}`);
  const places = ['.transport [title^="One frame"]', '.panel .switch input', '.panel [type=range]'];
  for (const place of [...places, '.section:last-child summary', '.bar [title^="Charts"]']) {
    await page.locator(place).first().click();
    const before = await page.evaluate(() => globalThis.tenon.app.isPlaying);
    await page.keyboard.press(' ');
    const after = await page.evaluate(() => globalThis.tenon.app.isPlaying);
    check(`space plays after a click on ${place}`, after === !before);
    if (after) await page.keyboard.press(' ');
  }
  await page.locator('.panel .exact').first().click();
  const before = await frame();
  await page.keyboard.press('.');
  check('typing a number is no key', (await frame()) === before);
}

// The first page: a scene that moves, hashes, cards, titles; links lead to scenes and back.
async function firstPage(open, address, pictures) {
  const page = await open(address, { width: 1100, height: 700 });
  await page.waitForFunction(() => globalThis.tenon.app.frame > 3);
  await page.evaluate(() => {
    const { app } = globalThis.tenon;
    app.setPlaying(false);
    app.isStill = true;
    while (app.frame < 120) app.advance();
    app.show(1);
  });
  const proof = await page.locator('.proof').innerText();
  check('the hash is the native one', /The same bits/.test(proof), proof);
  await page.screenshot({ path: join(pictures, 'first-page.png') });
  const { name, links } = await page.evaluate(() => ({
    name: globalThis.tenon.app.scene.name,
    links: [...document.querySelectorAll('.hero .links a')].map((link) => link.href),
  }));
  for (const link of links.filter((at) => !at.includes('#'))) {
    const { status } = await page.evaluate(
      async (at) => ({ status: (await fetch(at)).status }),
      link,
    );
    check(`${link} exists`, status === 200);
  }
  await page.mouse.move(900, 300);
  await page.mouse.wheel(0, 400);
  await page.waitForFunction(() => scrollY > 200);
  const next = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    app.frame = 539;
    app.advance();
    app.show(1);
    return app.scene.name;
  });
  check('another scene follows', next !== name, next);
  check('six cards', (await page.locator('.cards .scene').count()) === 6);
  const images = () => page.evaluate(() => document.querySelector('.cards img')?.src ?? '');
  const light = await images();
  await page.keyboard.press('n');
  check('pictures follow the theme', light !== (await images()), light);
  await page.locator('.scenes section .scene').filter({ hasText: 'Three springs' }).click();
  await page.waitForFunction(() => globalThis.tenon.app.scene.name === 'springs3');
  check('a scene has a title', (await page.locator('h1').innerText()) === 'Three springs');
  await page.locator('.brand').click();
  await page.waitForSelector('body.home');
  check('no error on the first page', page.complaints.length === 0, page.complaints.join());
  await page.close();
}

// From a desktop to a phone and back: panels give way, nothing is cut off.
async function resizing(open, address, pictures) {
  const page = await open(`${address}?still#scene=stack`, { width: 1440, height: 900 });
  const seen = (selector) => page.locator(selector).isVisible();
  check(
    'a desktop shows list, panel, charts',
    (await seen('.scenes')) && (await seen('.panel')) && (await seen('.charts')),
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForFunction(() => globalThis.tenon.app.stage.width === 390);
  check('a phone shows the scene', !(await seen('.scenes')) && !(await seen('.panel')));
  const odd = await page.evaluate(() => {
    const shown = [...document.querySelectorAll('button, a, input, select, summary')].filter(
      (node) => node.checkVisibility() && !node.matches('.skip'),
    );
    const boxes = shown.map((node) => ({ node, box: node.getBoundingClientRect() }));
    return boxes
      .filter(
        ({ node, box }) =>
          box.right > 391 ||
          box.left < -1 ||
          (node.matches('.bar button, .transport button') &&
            Math.min(box.width, box.height) < 43.5),
      )
      .map(({ node }) => node.outerHTML.slice(0, 80));
  });
  check('controls are in the window and 44 pixels large', !odd.length, odd.join('\n'));
  await page.screenshot({ path: join(pictures, 'narrow.png') });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.waitForFunction(
    () => globalThis.tenon.app.stage.width < 1000 && globalThis.tenon.app.stage.width > 600,
  );
  check('the panels come back', (await seen('.scenes')) && (await seen('.panel')));
  await page.close();
}

async function twoUp(page, pictures) {
  await visit(page, '#scene=pendulum_triple&two=xpbd:40');
  const energies = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    for (let i = 0; i < 240; ++i) app.advance();
    app.draw();
    return app.sims.map((sim) => sim.numbers().total);
  });
  const [ours, papers] = energies;
  check(
    'two-up shows two energies',
    energies.length === 2 && papers < ours - 0.01,
    energies.join(),
  );
  const seen = await page.evaluate(() => {
    const { charts } = globalThis.tenon.app;
    document.body.classList.remove('no-charts');
    charts.draw();
    return charts.plots.map(({ title, bounds, node }) => {
      const { left, width, top } = node.getBoundingClientRect();
      return { title: title.textContent, bounds: bounds.join(), left, width, top };
    });
  });
  const [first, second] = seen;
  const areNamed = /Tenon, 40/.test(first.title) && /XPBD, 40/.test(second.title);
  check('two-up: a chart for each', areNamed, JSON.stringify(seen));
  const isBeside = second.left >= first.left + first.width && first.top === second.top;
  check('two-up: side by side with one scale', isBeside && first.bounds === second.bounds);
  await page.screenshot({ path: join(pictures, 'two-up.png') });
}

async function addresses(page) {
  const words =
    '#scene=pyramid&p.base=6&method=xpbd&substeps=7&gravity=0,-5,0&look=9,4,9,0,2,0&see=joints,forces&frame=12';
  await visit(page, words);
  const read = () =>
    page.evaluate(() => {
      const { app } = globalThis.tenon;
      const { scene, params, method, substeps, gravity, see } = app.state;
      const { eye } = app.stage.look;
      const { frame } = app;
      return {
        scene,
        base: params.base,
        method,
        substeps,
        gravity,
        forces: see.forces,
        eye,
        frame,
      };
    });
  const state = await read();
  const isRight =
    state.scene === 'pyramid' &&
    state.base === 6 &&
    state.method === 'xpbd' &&
    state.substeps === 7 &&
    state.gravity[1] === -5 &&
    state.forces &&
    state.frame === 12 &&
    Math.abs(state.eye[0] - 9) < 1e-3;
  check('the address restores the state', isRight, JSON.stringify(state));
  const link = await page.evaluate(() => globalThis.tenon.app.writeAddress({ frame: 12 }));
  await visit(page, '#scene=stack');
  await visit(page, new URL(link).hash);
  check('the address it writes does too', JSON.stringify(await read()) === JSON.stringify(state));
}

async function badAddresses(page) {
  const bad = [
    '#scene=nonsense',
    '#p.base=3',
    '#scene=pyramid&p.base=nan&substeps=-3&method=magic',
  ];
  for (const words of bad) {
    await visit(page, words);
    const message = await page.locator('.message').innerText();
    check(`${words}: a message`, /address/.test(message), message);
    await page.evaluate(() => globalThis.tenon.app.stepOnce());
    const hash = await page.evaluate(() => globalThis.tenon.app.sims[0].hash());
    check(`${words}: the page works`, hash.length === 16);
  }
  await visit(page, '#scene=stack');
  const files = ['no JSON', '{}', '{"address":"#scene=stack","frame":3,"state":"AAAA"}'];
  for (const text of files) {
    await page.evaluate((t) => globalThis.tenon.readState(t), text);
    const message = await page.locator('.message').innerText();
    check(`saved state ${text}: a message`, /cannot be opened/.test(message), message);
  }
  await page.evaluate(() => globalThis.tenon.app.stepOnce());
}

async function poorBrowsers(browser, address) {
  const lacks = {
    'WebAssembly SIMD': () => (WebAssembly.validate = () => false),
    'WebGL 2': () => (HTMLCanvasElement.prototype.getContext = () => null),
    WebAssembly: () => delete globalThis.WebAssembly,
  };
  for (const [name, take] of Object.entries(lacks)) {
    const page = await browser.newPage();
    await page.addInitScript(take);
    await page.goto(address);
    const text = await page.locator('h1').innerText();
    check(`without ${name} the page says so`, text === `This page needs ${name}`, text);
    await page.close();
  }
}

async function sights(page, pictures) {
  await visit(page, '#scene=joint_zoo');
  for (const key of ['f', 'c', 'l', 'v', 'i', 'w']) await page.keyboard.press(key);
  const labels = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    for (let i = 0; i < 20; ++i) {
      app.advance();
      app.show(1);
    }
    app.draw();
    return document.querySelectorAll('.labels .force').length;
  });
  check('forces have labels', labels > 0, `${labels}`);
  const drawn = await page.evaluate(() => {
    const { pieces, lines, trails } = globalThis.tenon.app.stage.sides[0].overlay;
    const long = (name) => lines[name].mesh.geometry.drawRange.count;
    const points = trails.mesh.geometry.getAttribute('position').array;
    return {
      arrows: [pieces.force.count, pieces.torque.count],
      limits: long('limit'),
      trails: points.length,
      farthest: points.reduce((most, x) => Math.max(most, Math.abs(x)), 0),
    };
  });
  check('arrows of forces and torques', drawn.arrows.every(Boolean), JSON.stringify(drawn));
  check('limits as arcs and cones', drawn.limits > 20, JSON.stringify(drawn));
  check('trails', drawn.trails > 100 && drawn.farthest < 20, JSON.stringify(drawn));
  await page.screenshot({ path: join(pictures, 'sights.png') });
  await page.keyboard.press('?');
  check('help opens', await page.locator('dialog.help').isVisible());
  await page.keyboard.press('Escape');
}

// Runs in the page: contents of its glTF file.
async function recorded() {
  const bytes = new Uint8Array(await (await globalThis.tenon.recording()).arrayBuffer());
  const view = new DataView(bytes.buffer);
  const length = view.getUint32(12, true);
  const json = JSON.parse(new TextDecoder().decode(bytes.subarray(20, 20 + length)));
  return {
    magic: view.getUint32(0, true),
    isWhole: view.getUint32(8, true) === bytes.length,
    channels: json.animations[0].channels.length,
    targets: json.meshes[0].primitives[0].targets?.length,
  };
}

async function phone(open, address, pictures) {
  const page = await open(`${address}#scene=stack`, { width: 390, height: 780 });
  await page.waitForFunction(() => globalThis.tenon.app.frame > 5);
  await page.screenshot({ path: join(pictures, 'phone.png') });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  check('a phone needs no scrolling sideways', wide <= 390, `${wide}`);
  await page.getByLabel('Play or pause (space)').click();
  check('it plays, and pauses', await page.evaluate(() => !globalThis.tenon.app.isPlaying));
  const glb = await page.evaluate(recorded);
  const isGlb = glb.magic === 0x46546c67 && glb.isWhole && glb.channels >= 20;
  check('glTF with an animation', isGlb, JSON.stringify(glb));
  await visit(page, '#scene=rotor');
  await page.evaluate(() => {
    for (let i = 0; i < 10; ++i) globalThis.tenon.app.advance();
    globalThis.tenon.app.draw();
  });
  const soft = await page.evaluate(recorded);
  check('glTF with a soft body', soft.isWhole && soft.targets >= 10, JSON.stringify(soft));
  await page.close();
}

// Separate bodies sleep; touching bodies are one island; constraints of one colour share no body.
async function piles(page, pictures) {
  await visit(page, '#scene=stack&see=contacts,islands,colors,sleep,wire');
  const seen = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    for (let i = 0; i < 30; ++i) app.advance();
    app.draw();
    const { pieces, lines } = app.stage.sides[0].overlay;
    const { ends, colors } = app.sims[0].lines({ colors: true });
    const places = new Set();
    let isApart = true;
    colors.forEach((color, i) => {
      for (const from of [6 * i, 6 * i + 3]) {
        const place = `${color} ${ends.subarray(from, from + 3)}`;
        isApart &&= !places.has(place);
        places.add(place);
      }
    });
    const long = (name) => lines[name].mesh.geometry.drawRange.count / 2;
    const counts = [pieces.contact.count, pieces.graph.count, long('island'), long('wire')];
    return { counts, isApart, colors: new Set(colors).size };
  });
  await page.screenshot({ path: join(pictures, 'graph.png') });
  check(
    'contacts, islands, wires and the graph are drawn',
    seen.counts.every((n) => n > 5),
    seen.counts,
  );
  check('the graph has colours', seen.colors > 1 && seen.isApart, JSON.stringify(seen));
  await visit(page, '#scene=resting&see=sleep');
  const asleep = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    const { bodies } = app.stage.sides[0];
    for (let i = 0; i < 120 && !bodies.sleeping?.some(Boolean); ++i) {
      app.advance();
      if (i % 20 === 19) app.draw();
    }
    return bodies.sleeping.filter(Boolean).length;
  });
  check('sleep is shown', asleep > 0, `${asleep}`);
}

async function downloads(page) {
  await visit(page, '#scene=stack');
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
  for (const [button, ending] of [
    ['Screenshot', '.png'],
    ['Animated glTF', '.glb'],
    ['Save state', '.json'],
  ]) {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: button }).click(),
    ]);
    check(`${button} is a file`, file.suggestedFilename().endsWith(ending));
  }
}

// The Tab key reaches every control in one cycle.
export async function keyboard(page) {
  const wanted = await page.evaluate(() => {
    const all = 'a[href], button, input, select, summary, canvas[tabindex]';
    const list = [...document.querySelectorAll(all)].filter((node) => node.checkVisibility());
    list.forEach((node, i) => (node.dataset.stop = i));
    document.activeElement.blur();
    globalThis.stops = new Set();
    addEventListener('focusin', ({ target }) => globalThis.stops.add(target.dataset.stop));
    return list.length;
  });
  for (let i = 0; i < wanted + 3; ++i) await page.keyboard.press('Tab');
  const missed = await page.evaluate(() =>
    [...document.querySelectorAll('[data-stop]')]
      .filter(({ dataset }) => !globalThis.stops.has(dataset.stop))
      .map((node) => node.outerHTML.slice(0, 90)),
  );
  check('the keyboard reaches every control', wanted > 80 && !missed.length, missed.join('\n'));
}

export async function behaviour(browser, open, address, pictures, nativeHash) {
  const page = await open(`${address}?still#scene=stack`, { width: 640, height: 480 });
  await drag(page, pictures);
  await holdStill(page);
  await throwing(page);
  await tools(page);
  await time(page);
  await scrub(page);
  await addresses(page);
  await badAddresses(page);
  await sights(page, pictures);
  await piles(page, pictures);
  await parameters(page);
  await charts(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await twoUp(page, pictures);
  await keys(page);
  await camera(page);
  await selecting(page, pictures);
  await limits(page);
  await machines(page);
  await video(page);
  await sceneFiles(page, pictures, nativeHash);
  await downloads(page);
  check('no error in the console', page.complaints.length === 0, page.complaints.join('\n'));
  await page.close();
  await poorBrowsers(browser, address);
  await phone(open, address, pictures);
  await firstPage(open, address, pictures);
  await resizing(open, address, pictures);
}
