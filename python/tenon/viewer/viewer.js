// Draws recorded or live frames of a world: WebGL 2, no other library. `data` is the scene that
// _record.py writes; frames are rows of 32-bit floats: seven for each body, three for each particle.
'use strict';

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
const floats = (text) => new Float32Array(bytes(text));
const whole = (text) => new Uint32Array(bytes(text));

// ---- Matrices, by columns

function multiply(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; ++c)
    for (let r = 0; r < 4; ++r)
      for (let k = 0; k < 4; ++k) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  const d = near - far;
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + far) / d, -1, 0, 0, (2 * near * far) / d, 0]);
}

const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((x) => x / (Math.hypot(...a) || 1));

function lookAt(eye, target) {
  const z = unit(minus(eye, target));
  const x = unit(cross([0, 1, 0], z));
  const y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}

function pose(p, i) {
  const [x, y, z, a, b, c, w] = p.subarray(i, i + 7);
  return new Float32Array([
    1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b), 0,
    2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a), 0,
    2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a * a + b * b), 0,
    x, y, z, 1,
  ]);
}

// Corners of triangles with a normal each.
function flat(points, triangles) {
  const out = new Float32Array(6 * triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const p = [0, 1, 2].map((k) => points.subarray(3 * triangles[t + k], 3 * triangles[t + k] + 3));
    const n = unit(cross(minus(p[1], p[0]), minus(p[2], p[0])));
    for (let k = 0; k < 3; ++k) out.set([...p[k], ...n], 6 * (t + k));
  }
  return out;
}

// ---- Drawing

const VERTEX = `#version 300 es
in vec3 p; in vec3 n; uniform mat4 view, model; out vec3 normal;
void main() { normal = mat3(model) * n; gl_Position = view * model * vec4(p, 1.0); }`;
const FRAGMENT = `#version 300 es
precision highp float; in vec3 normal; uniform vec3 color; out vec4 result;
void main() {
  float light = 0.45 + 0.55 * abs(dot(normalize(normal), normalize(vec3(0.4, 0.8, 0.5))));
  result = vec4(color * light, 1.0);
}`;

class View {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = (this.gl = canvas.getContext('webgl2', { preserveDrawingBuffer: true }));
    if (!gl) throw new Error('this browser has no WebGL 2');
    this.program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    gl.useProgram(this.program);
    gl.enable(gl.DEPTH_TEST);
    this.place = Object.fromEntries(['view', 'model', 'color'].map((n) => [n, gl.getUniformLocation(this.program, n)]));
    this.turn = [0.6, 0.35];
    this.away = 5;
    this.target = [0, 0, 0];
    this.handle();
  }

  handle() {
    let last = null;
    this.canvas.addEventListener('pointerdown', (e) => { last = [e.clientX, e.clientY]; this.canvas.setPointerCapture(e.pointerId); });
    this.canvas.addEventListener('pointerup', () => { last = null; });
    this.canvas.addEventListener('pointermove', (e) => {
      if (!last) return;
      this.turn[0] -= 0.01 * (e.clientX - last[0]);
      this.turn[1] = Math.min(1.55, Math.max(-1.55, this.turn[1] + 0.01 * (e.clientY - last[1])));
      last = [e.clientX, e.clientY];
    });
    this.canvas.addEventListener('wheel', (e) => { e.preventDefault(); this.away *= Math.exp(0.001 * e.deltaY); }, { passive: false });
  }

  mesh(points, triangles, color, use) {
    const { gl } = this;
    const made = { array: gl.createVertexArray(), buffer: gl.createBuffer(), count: triangles.length, color };
    gl.bindVertexArray(made.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, made.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, flat(points, triangles), use);
    for (const [name, offset] of [['p', 0], ['n', 12]]) {
      const at = gl.getAttribLocation(this.program, name);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 24, offset);
    }
    return made;
  }

  load(data) {
    const { gl } = this;
    const make = (m) => this.mesh(floats(m.points), whole(m.triangles), m.color, gl.STATIC_DRAW);
    this.bodies = data.bodies.map((meshes) => meshes.map(make));
    this.still = data.still.map(make);
    this.softs = data.softs.map((s) => ({ count: s.count, triangles: whole(s.triangles), color: s.color }));
    for (const s of this.softs) s.mesh = this.mesh(new Float32Array(3 * s.count), s.triangles, s.color, gl.DYNAMIC_DRAW);
    this.target = data.center;
    this.away = data.distance;
  }

  draw(frame) {
    const { gl, canvas, turn } = this;
    canvas.width = canvas.clientWidth * devicePixelRatio;
    canvas.height = canvas.clientHeight * devicePixelRatio;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0.93, 0.94, 0.96, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const eye = [Math.sin(turn[0]) * Math.cos(turn[1]), Math.sin(turn[1]), Math.cos(turn[0]) * Math.cos(turn[1])].map(
      (x, i) => this.target[i] + this.away * x,
    );
    const lens = perspective(0.8, canvas.width / Math.max(canvas.height, 1), 0.01 * this.away, 100 * this.away);
    gl.uniformMatrix4fv(this.place.view, false, multiply(lens, lookAt(eye, this.target)));
    const show = (m, model) => {
      gl.uniformMatrix4fv(this.place.model, false, model);
      gl.uniform3fv(this.place.color, m.color);
      gl.bindVertexArray(m.array);
      gl.drawArrays(gl.TRIANGLES, 0, m.count);
    };
    const identity = pose(new Float32Array([0, 0, 0, 0, 0, 0, 1]), 0);
    for (const m of this.still) show(m, identity);
    this.bodies.forEach((meshes, i) => meshes.forEach((m) => show(m, pose(frame, 7 * i))));
    let at = 7 * this.bodies.length;
    for (const s of this.softs) {
      gl.bindBuffer(gl.ARRAY_BUFFER, s.mesh.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, flat(frame.subarray(at, at + 3 * s.count), s.triangles), gl.DYNAMIC_DRAW);
      show(s.mesh, identity);
      at += 3 * s.count;
    }
  }
}

// ---- The page

class Player {
  constructor(root, data) {
    this.data = data;
    this.frames = data.frames ? floats(data.frames) : new Float32Array(0);
    this.slider = root.querySelector('input');
    this.label = root.querySelector('output');
    this.button = root.querySelector('button');
    this.view = new View(root.querySelector('canvas'));
    this.view.load(data);
    this.at = 0;
    this.plays = true;
    this.button.onclick = () => this.play(!this.plays);
    this.slider.oninput = () => { this.play(false); this.at = +this.slider.value; };
    let last = performance.now();
    const tick = (now) => { this.advance((now - last) / 1000); last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
    if (!data.live) return;
    setInterval(() => this.fetch(), 100);
    addEventListener('pagehide', () => navigator.sendBeacon('closed'));
  }

  get count() { return this.frames.length / this.data.width; }

  play(plays) {
    this.plays = plays;
    this.button.textContent = plays ? 'Pause' : 'Play';
  }

  async fetch() {
    if (this.waits) return; // an answer takes longer than the interval
    this.waits = true;
    const answer = await fetch(`frames?from=${this.count}`).catch(() => null);
    const more = new Float32Array(answer && answer.ok ? await answer.arrayBuffer() : 0);
    this.waits = false;
    if (!more.length) return;
    const all = new Float32Array(this.frames.length + more.length);
    all.set(this.frames);
    all.set(more, this.frames.length);
    this.frames = all;
  }

  advance(seconds) {
    if (!this.count) return;
    if (this.plays) this.at += seconds / this.data.dt;
    if (this.at >= this.count) this.at = this.data.live ? this.count - 1 : 0;
    const i = Math.min(Math.floor(this.at), this.count - 1);
    this.slider.max = this.count - 1;
    this.slider.value = i;
    this.label.textContent = `${(i * this.data.dt).toFixed(2)} s`;
    const { width } = this.data;
    this.view.draw(this.frames.subarray(i * width, (i + 1) * width));
  }
}
