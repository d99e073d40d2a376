// The panel at the right: parameters, solver, interaction, display, charts, sharing.
import { sourceOf } from './catalog.js';
import { h } from './dom.js';
import { choice, oneOf, section, slider, toggle } from './fields.js';

const METHOD_NAMES = [
  ['tenon', 'Tenon, impulse form'],
  ['xpbd', 'XPBD, the paper’s'],
  ['jacobi', 'Jacobi, averaged'],
];

export const TOOLS = [
  ['drag', 'Drag', 'Pull a body with a spring (D)'],
  ['throw', 'Throw', 'Pull back and release (T)'],
  ['pin', 'Pin', 'Fix a body in place, or free it (P)'],
  ['delete', 'Delete', 'Delete a body (X)'],
  ['box', 'Box', 'Drop a box (B)'],
  ['ball', 'Ball', 'Drop a ball (O)'],
  ['ragdoll', 'Ragdoll', 'Drop a ragdoll (G)'],
  ['cloth', 'Cloth', 'Drop a cloth (K)'],
];

const SIGHTS = [
  ['joints', 'Joints', 'J'],
  ['forces', 'Forces and torques', 'F'],
  ['contacts', 'Contact points', 'C'],
  ['limits', 'Joint limits', 'L'],
  ['trails', 'Trails', 'V'],
  ['islands', 'Islands', 'I'],
  ['colors', 'Constraint graph', 'H'],
  ['sleep', 'Sleeping bodies', ''],
  ['wire', 'Wireframe', 'W'],
  ['boxes', 'Bounding boxes', ''],
];

// What of a model is not as in its file.
function reportNode(report) {
  const items = report.map(({ fate, text, line }) =>
    h('li', {}, [h('strong', {}, fate), ` ${text}`, line > 0 && h('small', {}, ` line ${line}`)]),
  );
  return h('details', { class: 'report' }, [
    h(
      'summary',
      {},
      report.length === 1 ? '1 note on this model' : `${report.length} notes on this model`,
    ),
    h('ul', {}, items),
  ]);
}

export class Panel {
  constructor(app, charts) {
    this.app = app;
    this.parameters = h('div');
    this.solver = h('div');
    this.sights = {};
    this.node = h('aside', { class: 'panel', id: 'panel', 'aria-label': 'Controls' }, [
      section('Scene', true, this.parameters),
      section('Solver', true, this.solver),
      section('Interaction', true, this.hands()),
      section('See', false, this.see()),
      section('Figures', false, charts.figures),
      section('Share', false, this.share()),
    ]);
  }

  // Call for a new scene or new settings.
  rebuild() {
    const { app } = this;
    const { scene, state } = app;
    const fields = scene.parameters.map((p) =>
      slider({
        label: p.name.replaceAll('_', ' '),
        hint: p.meaning,
        ...p,
        value: state.params[p.name],
        onchange: (value) => app.setParameter(p.name, value),
      }),
    );
    const about = [
      h('p', { class: 'about' }, scene.title),
      sourceOf(scene) && h('p', { class: 'source' }, sourceOf(scene)),
      ...scene.parameters.map((p, i) => {
        fields[i].node.append(h('small', {}, p.meaning));
        return fields[i].node;
      }),
    ];
    if (scene.report?.length) about.push(reportNode(scene.report));
    this.parameters.replaceChildren(...about.filter(Boolean));
    this.solver.replaceChildren(...this.solverFields());
  }

  solverFields() {
    const { app } = this;
    const { state } = app;
    const gravity = state.gravity ?? app.gravity;
    const fields = [
      choice({
        label: 'method',
        options: METHOD_NAMES,
        value: state.method,
        onchange: (method) => app.setSolver({ method }),
      }),
      slider({
        label: 'substeps',
        lo: 1,
        hi: 100,
        whole: true,
        value: state.substeps,
        onchange: (substeps) => app.setSolver({ substeps }),
      }),
      slider({
        label: 'iterations',
        lo: 1,
        hi: 20,
        whole: true,
        value: state.iterations,
        onchange: (iterations) => app.setSolver({ iterations }),
      }),
      slider({
        label: 'gravity, m/s²',
        hint: 'along y; default: that of the scene',
        lo: -30,
        hi: 30,
        value: +gravity[1].toPrecision(4),
        onchange: (y) => app.setGravity([gravity[0], y, gravity[2]]),
      }),
      toggle({
        label: 'Two side by side',
        hint: 'The same scene with two solver settings',
        value: !!state.two,
        onchange: (isOn) => app.setTwo(isOn ? app.otherWay() : null),
      }),
    ];
    if (state.two) fields.push(...this.secondFields());
    return fields.map((field) => field.node);
  }

  secondFields() {
    const { app } = this;
    const { two } = app.state;
    return [
      choice({
        label: 'second method',
        options: METHOD_NAMES,
        value: two.method,
        onchange: (method) => app.setTwo({ ...two, method }),
      }),
      slider({
        label: 'second substeps',
        lo: 1,
        hi: 100,
        whole: true,
        value: two.substeps,
        onchange: (substeps) => app.setTwo({ ...two, substeps }),
      }),
    ];
  }

  hands() {
    const { hands } = this.app;
    this.tool = oneOf({
      label: 'Tool',
      options: TOOLS,
      value: 'drag',
      onchange: (tool) => (hands.tool = tool),
    });
    const compliance = slider({
      label: 'compliance, m/N',
      hint: 'Compliance of the pulling spring: elongation per newton',
      lo: 1e-7,
      hi: 1,
      value: 1e-3,
      onchange: (value) => {
        hands.compliance = value;
        auto.set(false);
      },
    });
    const auto = toggle({
      label: 'Compliance by the mass of the body',
      value: true,
      onchange: (isOn) => (hands.compliance = isOn ? null : 1e-3),
    });
    hands.onauto = (value) => compliance.set(value);
    return h('div', {}, this.tool.node, compliance.node, auto.node);
  }

  see() {
    return h(
      'div',
      { class: 'switches' },
      SIGHTS.map(([name, label, key]) => {
        const field = toggle({
          label: key ? `${label} (${key})` : label,
          value: false,
          onchange: (isOn) => this.app.setSee(name, isOn),
        });
        this.sights[name] = field;
        return field.node;
      }),
    );
  }

  share() {
    const { app } = this;
    // files.js is loaded when first needed.
    const act = (text, what) => {
      const onclick = async () => (await import('./files.js'))[what](app);
      return h('button', { type: 'button', class: 'chip', onclick }, text);
    };
    const video = h('button', { type: 'button', class: 'chip' }, 'Record video');
    video.addEventListener('click', async () => {
      const { Recorder } = await import('./video.js');
      app.recorder ??= new Recorder(app);
      video.textContent = (await app.recorder.toggle()) ? 'Stop and save video' : 'Record video';
    });
    return h('div', { class: 'chips' }, [
      video,
      act('Copy link', 'copyLink'),
      act('Screenshot', 'screenshot'),
      act('Animated glTF', 'saveGltf'),
      act('Save state', 'saveStateFile'),
      act('Open file', 'openFile'),
      h('button', { type: 'button', class: 'chip', onclick: () => app.edit() }, 'Edit scene (E)'),
    ]);
  }

  setTool(tool) {
    this.app.hands.tool = tool;
    this.tool.set(tool);
  }

  setSee(see) {
    for (const [name, field] of Object.entries(this.sights)) field.set(see[name]);
  }
}
