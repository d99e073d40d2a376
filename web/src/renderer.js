// Draws the objects of a three.js scene with three small shader programs. The renderer of three.js is
// larger than the rest of the page.
import { Color, Matrix4, OrthographicCamera, Vector3 } from 'three';
import { ATTRIBUTES, COLOR, DEPTH, OCCLUSION } from './shaders.js';

// Starts to compile a program; finish() waits for it.
function begin(gl, sources) {
  const program = gl.createProgram();
  sources.forEach((source, i) => {
    const shader = gl.createShader(i ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  });
  gl.linkProgram(program);
  return program;
}

function finish(gl, program) {
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(gl.getProgramInfoLog(program) || 'a shader does not compile');
  }
  const places = {};
  const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
  for (let i = 0; i < count; ++i) {
    const { name } = gl.getActiveUniform(program, i);
    places[name] = gl.getUniformLocation(program, name);
  }
  return { program, places };
}

// The edges of triangles as lines, without duplicates.
function edgesOf({ index, attributes }) {
  const corners = index?.array ?? [...Array(attributes.position.count).keys()];
  const lines = new Map();
  corners.forEach((a, i) => {
    const b = corners[i % 3 === 2 ? i - 2 : i + 1];
    lines.set(Math.min(a, b) * 2 ** 26 + Math.max(a, b), [a, b]);
  });
  return new Uint32Array([...lines.values()].flat());
}

export class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext('webgl2', { alpha: false, preserveDrawingBuffer: true });
    this.gl = gl;
    this.canvas = canvas;
    this.buffers = new WeakMap(); // of attributes
    this.edges = new WeakMap(); // of geometries
    this.known = new WeakSet();
    const programs = [COLOR, DEPTH].map((sources) => begin(gl, sources));
    [this.color, this.depth] = programs.map((program) => finish(gl, program));
    this.occlusion = null;
    this.hasOcclusion = true;
    this.reach = 0.3; // m, of occlusion
    this.light = {
      sky: new Color('#ffffff'),
      ground: new Color('#cfc4b4'),
      sun: new Color('#fff8ee'),
      skyStrength: 1,
      sunStrength: 1,
      offset: 0, // bias of surfaces towards the light, against self-shadowing
      camera: new OrthographicCamera(),
    };
    this.makeShadow(innerHeight < 500 ? 1024 : 2048);
  }

  // Not part of the first picture, which would wait for the program.
  addOcclusion() {
    this.occlusion ??= finish(this.gl, begin(this.gl, OCCLUSION));
  }

  // Resolves when all drawing so far is done.
  async done() {
    const { gl } = this;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    while (!gl.isContextLost() && gl.getSyncParameter(fence, gl.SYNC_STATUS) === gl.UNSIGNALED)
      await new Promise((resolve) => setTimeout(resolve, 4));
    gl.deleteSync(fence);
  }

  get isOccluding() {
    return this.hasOcclusion && this.occlusion !== null;
  }

  // A texture and a framebuffer that draws into it.
  target(format, width, height, attachment, filter) {
    const { gl } = this;
    const made = { width, height, texture: gl.createTexture(), target: gl.createFramebuffer() };
    gl.bindTexture(gl.TEXTURE_2D, made.texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
    for (const name of ['MIN', 'MAG']) {
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}_FILTER`], filter);
    }
    for (const name of ['S', 'T']) {
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_WRAP_${name}`], gl.CLAMP_TO_EDGE);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, made.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, attachment, gl.TEXTURE_2D, made.texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return made;
  }

  makeShadow(size) {
    const { gl } = this;
    this.shadow = this.target(gl.DEPTH_COMPONENT24, size, size, gl.DEPTH_ATTACHMENT, gl.LINEAR);
    const mode = gl.COMPARE_REF_TO_TEXTURE;
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, mode);
  }

  // Depths and occlusion have half the resolution of the canvas.
  makeOcclusion() {
    const { gl, canvas } = this;
    const [width, height] = [canvas.width, canvas.height].map((n) => Math.max(1, Math.ceil(n / 2)));
    if (this.hidden?.width === width && this.hidden.height === height) return;
    for (const old of [this.hidden, this.depths]) {
      gl.deleteTexture(old?.texture ?? null);
      gl.deleteFramebuffer(old?.target ?? null);
    }
    this.depths = this.target(gl.DEPTH_COMPONENT24, width, height, gl.DEPTH_ATTACHMENT, gl.NEAREST);
    this.hidden = this.target(gl.R8, width, height, gl.COLOR_ATTACHMENT0, gl.LINEAR);
  }

  setSize(width, height, ratio) {
    this.ratio = ratio;
    this.canvas.width = Math.floor(width * ratio);
    this.canvas.height = Math.floor(height * ratio);
  }

  // ---- Buffers

  // The up-to-date buffer of an attribute.
  bufferOf(attribute, target) {
    const { gl } = this;
    let entry = this.buffers.get(attribute);
    if (!entry) {
      entry = { buffer: gl.createBuffer(), version: -1, size: 0 };
      this.buffers.set(attribute, entry);
    }
    gl.bindBuffer(target, entry.buffer);
    if (entry.version !== attribute.version) {
      const { array } = attribute;
      if (entry.size === array.byteLength) gl.bufferSubData(target, 0, array);
      else gl.bufferData(target, array, gl.DYNAMIC_DRAW);
      Object.assign(entry, { version: attribute.version, size: array.byteLength });
    }
  }

  forget(attribute) {
    const entry = attribute && this.buffers.get(attribute);
    if (!entry) return;
    this.gl.deleteBuffer(entry.buffer);
    this.buffers.delete(attribute);
  }

  // Buffers are deleted with their owners.
  watch(object) {
    const { geometry } = object;
    if (!this.known.has(geometry)) {
      this.known.add(geometry);
      geometry.addEventListener('dispose', () => {
        for (const attribute of Object.values(geometry.attributes)) this.forget(attribute);
        this.forget(geometry.index);
        this.forget(this.edges.get(geometry));
        this.edges.delete(geometry);
        this.known.delete(geometry);
      });
    }
    if (object.matrices && !this.known.has(object)) {
      this.known.add(object);
      object.addEventListener('dispose', () => {
        this.forget(object.matrices);
        this.forget(object.colors);
      });
    }
  }

  // `columns` attributes of four numbers, or one; without a buffer, a constant for all vertices.
  attribute(place, attribute, usual, divisor = 0, columns = 1) {
    const { gl } = this;
    if (attribute) this.bufferOf(attribute, gl.ARRAY_BUFFER);
    for (let i = 0; i < columns; ++i) {
      if (attribute) {
        const width = attribute.itemSize / columns;
        gl.enableVertexAttribArray(place + i);
        gl.vertexAttribPointer(place + i, width, gl.FLOAT, false, 4 * width * columns, 16 * i);
        gl.vertexAttribDivisor(place + i, divisor);
      } else {
        gl.disableVertexAttribArray(place + i);
        gl.vertexAttrib4f(place + i, ...usual.slice(4 * i, 4 * i + 4));
      }
    }
  }

  bind(object) {
    const { attributes } = object.geometry;
    const { position, normal, instance, color, size, rest } = ATTRIBUTES;
    this.watch(object);
    this.attribute(position, attributes.position, [0, 0, 0, 1]);
    this.attribute(normal, attributes.normal, [0, 1, 0, 0]);
    this.attribute(instance, object.matrices, new Matrix4().elements, 1, 4);
    const tone = object.colors ?? attributes.color;
    this.attribute(color, tone, [1, 1, 1, 1], object.colors ? 1 : 0);
    this.attribute(size, attributes.size, [1, 1, 1, 0], 1);
    this.attribute(rest, attributes.rest, [0, 0, 0, 0]);
  }

  // ---- Drawing

  indexOf({ geometry, material }) {
    if (!material.isWire) return geometry.index;
    if (!this.edges.has(geometry)) {
      this.edges.set(geometry, { array: edgesOf(geometry), version: 0, itemSize: 1 });
    }
    return this.edges.get(geometry);
  }

  draw(object) {
    const { gl } = this;
    const { geometry, material } = object;
    this.bind(object);
    const mode = object.isLines || material.isWire ? gl.LINES : gl.TRIANGLES;
    const index = this.indexOf(object);
    if (index) {
      this.bufferOf(index, gl.ELEMENT_ARRAY_BUFFER);
      const type = index.array instanceof Uint32Array ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT;
      gl.drawElementsInstanced(mode, index.array.length, type, 0, object.count);
    } else {
      const most = geometry.attributes.position?.count ?? 0;
      gl.drawArraysInstanced(mode, 0, Math.min(most, geometry.drawRange.count), object.count);
    }
  }

  use({ program, places }, camera) {
    const { gl } = this;
    gl.useProgram(program);
    const seen = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    gl.uniformMatrix4fv(places.camera, false, seen.elements);
    gl.uniform3fv(places.eye, new Vector3().setFromMatrixPosition(camera.matrixWorld).toArray());
    return seen;
  }

  // Depths of objects, into a part of a target.
  drawDepths(objects, camera, { target }, box) {
    const { gl, depth } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.viewport(...box);
    gl.scissor(...box);
    gl.enable(gl.SCISSOR_TEST);
    gl.disable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    const seen = this.use(depth, camera);
    for (const object of objects) {
      const { isDouble, least } = object.material;
      this.toggle(gl.CULL_FACE, !isDouble);
      // Shadows have the true width.
      gl.uniform1f(depth.places.least, camera === this.light.camera ? 0 : least.value);
      gl.uniformMatrix4fv(depth.places.model, false, object.matrixWorld.elements);
      this.draw(object);
    }
    return seen;
  }

  // Shadow map: back faces of objects that cast shadows, seen from the sun.
  drawShadow(objects) {
    const { gl, shadow } = this;
    gl.cullFace(gl.FRONT);
    const casting = objects.filter((object) => object.castShadow);
    const box = [0, 0, shadow.width, shadow.height];
    this.sunView = this.drawDepths(casting, this.light.camera, shadow, box);
    gl.cullFace(gl.BACK);
  }

  drawOcclusion(objects, camera, box) {
    const { gl, occlusion, hidden, depths } = this;
    const { places, program } = occlusion;
    const half = box.map((n) => Math.round(n / 2));
    const isSolid = ({ isLines, material: m }) => m.isLit && !isLines && (!m.isClear || m.grid);
    this.drawDepths(objects.filter(isSolid), camera, depths, half);
    gl.bindFramebuffer(gl.FRAMEBUFFER, hidden.target);
    gl.useProgram(program);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.CULL_FACE);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, depths.texture);
    gl.uniform1i(places.depths, 0);
    gl.uniformMatrix4fv(places.unproject, false, camera.projectionMatrixInverse.elements);
    gl.uniform4f(places.box, ...half);
    const perMetre = 0.5 * half[3] * camera.projectionMatrix.elements[5];
    gl.uniform2f(places.reach, this.reach, this.reach * perMetre);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.enable(gl.DEPTH_TEST);
  }

  toggle(what, isOn) {
    if (isOn) this.gl.enable(what);
    else this.gl.disable(what);
  }

  setLight(places) {
    const { gl, light } = this;
    const strong = (color, strength) => color.toArray().map((x) => x * strength);
    gl.uniform3fv(places.sky, strong(light.sky, light.skyStrength));
    gl.uniform3fv(places.ground, strong(light.ground, light.skyStrength));
    gl.uniform3fv(places.sun, strong(light.sun, light.sunStrength));
    const way = new Vector3().setFromMatrixColumn(light.camera.matrixWorld, 2);
    gl.uniform3fv(places.sunWay, way.normalize().toArray());
    gl.uniformMatrix4fv(places.sunView, false, this.sunView.elements);
    gl.uniform1f(places.offset, light.offset);
    gl.uniform1f(places.texel, 1 / this.shadow.width);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.shadow.texture);
    gl.uniform1i(places.shadow, 0);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.isOccluding ? this.hidden.texture : null);
    gl.uniform1i(places.hidden, 1);
    const { width, height } = this.hidden ?? this.canvas;
    gl.uniform3f(places.hiddenScale, 0.5 / width, 0.5 / height, this.isOccluding ? 1 : 0);
  }

  drawColor(object) {
    const { gl } = this;
    const { places } = this.color;
    const { color, opacity, isLit, isClear, isDouble, isThrough, least, grid } = object.material;
    const { rough, metal, pattern, scale } = object.material;
    this.toggle(gl.CULL_FACE, !isDouble);
    this.toggle(gl.BLEND, isClear);
    this.toggle(gl.DEPTH_TEST, !isThrough);
    gl.depthMask(!isClear);
    gl.uniformMatrix4fv(places.model, false, object.matrixWorld.elements);
    gl.uniform4f(places.tint, color.r, color.g, color.b, opacity);
    gl.uniform1f(places.lit, isLit ? 1 : 0);
    gl.uniform1f(places.least, least.value);
    gl.uniform4f(places.surface, rough, metal, pattern, scale);
    gl.uniform4f(places.grid, grid?.cell ?? 0, grid?.reach ?? 1, grid?.x ?? 0, grid?.y ?? 0);
    if (grid) gl.uniform3fv(places.gridColor, grid.color.toArray());
    this.draw(object);
  }

  // Draws into a part of the canvas, in CSS pixels from its lower left.
  render(scene, camera, background, [x, y, width, height]) {
    const { gl, ratio } = this;
    scene.updateMatrixWorld();
    camera.updateMatrixWorld();
    const objects = [];
    scene.traverseVisible((object) => object.geometry && objects.push(object));
    const solid = objects.filter(({ material }) => !material.isClear && !material.isThrough);
    const clear = objects.filter((object) => !solid.includes(object));
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const box = [x, y, width, height].map((pixels) => Math.round(pixels * ratio));
    this.drawShadow(objects);
    if (this.isOccluding) {
      this.makeOcclusion();
      this.drawOcclusion(objects, camera, box);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(...box);
    gl.scissor(...box);
    gl.enable(gl.SCISSOR_TEST);
    const [r, g, b] = background.clone().convertLinearToSRGB().toArray();
    gl.clearColor(r, g, b, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.use(this.color, camera);
    this.setLight(this.color.places);
    for (const object of solid) this.drawColor(object);
    for (const object of clear.sort((a, b) => a.renderOrder - b.renderOrder))
      this.drawColor(object);
    gl.depthMask(true);
  }
}
