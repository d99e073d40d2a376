// The shader programs: colours, depth (of the shadow map and before occlusion), occlusion. Missing
// attributes have neutral values.

export const ATTRIBUTES = { position: 0, normal: 1, instance: 2, color: 6, size: 7, rest: 8 };

// Patterns of surfaces.
// Of a belt the fraction is how far it has moved, in periods.
export const PATTERNS = { none: 0, wood: 1, weave: 2, belt: 3, panels: 4, tiles: 5 };

// A vertex of a rounded shape is position * size.xyz + normal * size.w. The smallest width is a
// pixel or two, so that small distant objects stay visible.
const PLACE = `#version 300 es
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in mat4 instance;
layout(location = 6) in vec4 color;
layout(location = 7) in vec4 size;
uniform mat4 camera, model;
uniform vec3 eye;
uniform float least;
vec4 place(mat4 frame) {
  float away = distance(eye, frame[3].xyz);
  float thin = min(size.x, min(size.y, size.z)) + size.w;
  float width = size.w + max(0.0, least * away - thin);
  return frame * vec4(position * size.xyz + normal * width, 1.0);
}`;

export const DEPTH = [
  `${PLACE}
void main() { gl_Position = camera * place(model * instance); }`,
  `#version 300 es
void main() {}`,
];

// Directions for samples, rotated from pixel to pixel without visible repetition.
const NOISE = `
float noise() {
  return fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
}
vec2 spiral(int i, float count, float turn) {
  float angle = 2.39996323 * float(i) + 6.2831853 * turn;
  return sqrt((float(i) + 0.5) / count) * vec2(cos(angle), sin(angle));
}`;

// How much of the sky is hidden at each pixel, from the depths around it: McGuire et al. 2012, Scalable
// ambient obscurance.
export const OCCLUSION = [
  `#version 300 es
void main() {
  gl_Position = vec4(vec2((gl_VertexID << 1) & 2, gl_VertexID & 2) * 2.0 - 1.0, 0.0, 1.0);
}`,
  `#version 300 es
precision highp float;
uniform highp sampler2D depths;
uniform mat4 unproject;
uniform vec4 box; // of the picture, in pixels of the texture
uniform vec2 reach; // in metres, and in pixels at a distance of a metre
out vec4 result;
${NOISE}
vec3 pointAt(ivec2 pixel) {
  float depth = texelFetch(depths, clamp(pixel, ivec2(box.xy), ivec2(box.xy + box.zw) - 1), 0).x;
  vec2 at = (vec2(pixel) + 0.5 - box.xy) / box.zw;
  vec4 p = unproject * vec4(2.0 * vec3(at, depth) - 1.0, 1.0);
  return p.xyz / p.w;
}
vec3 slope(ivec2 pixel, ivec2 way, vec3 p) {
  vec3 a = pointAt(pixel + way) - p, b = p - pointAt(pixel - way);
  return abs(a.z) < abs(b.z) ? a : b;
}
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  result = vec4(1.0);
  if (texelFetch(depths, pixel, 0).x == 1.0) return;
  vec3 p = pointAt(pixel);
  vec3 n = normalize(cross(slope(pixel, ivec2(1, 0), p), slope(pixel, ivec2(0, 1), p)));
  float wide = clamp(reach.y / -p.z, 3.0, 80.0), turn = noise(), sum = 0.0, square = reach.x * reach.x;
  for (int i = 0; i < 12; ++i) {
    vec3 v = pointAt(pixel + ivec2(wide * spiral(i, 12.0, turn))) - p;
    float away = dot(v, v), near = max(0.0, 1.0 - away / square);
    sum += near * near * max(0.0, dot(v, n) + 0.002 * p.z) / sqrt(away + 1e-9);
  }
  result = vec4(vec3(max(0.0, 1.0 - 0.16 * sum)), 1.0);
}`,
];

export const COLOR = [
  `${PLACE}
layout(location = 8) in vec4 rest;
uniform mat4 sunView;
uniform float offset;
out vec3 across, world, own;
out vec4 tone, shade;
out vec2 at;
flat out float serial;
void main() {
  mat4 frame = model * instance;
  vec4 point = place(frame);
  mat3 turn = mat3(frame);
  vec3 scale = vec3(dot(turn[0], turn[0]), dot(turn[1], turn[1]), dot(turn[2], turn[2]));
  across = turn * (normal / scale);
  world = point.xyz;
  tone = color;
  at = position.xz;
  // Coordinates of patterns: of soft bodies at rest, of others relative to their size, longest first.
  vec3 body = (position * size.xyz + normal * size.w) / (max(size.x, max(size.y, size.z)) + size.w);
  if (size.y > max(size.x, size.z)) body = body.yzx;
  else if (size.z > size.x) body = body.zxy;
  own = rest.w > 0.0 ? rest.xyz : body;
  serial = fract(float(gl_InstanceID) * 0.618034);
  shade = sunView * (point + vec4(offset * normalize(across + 1e-9), 0.0));
  gl_Position = camera * point;
}`,
  `#version 300 es
precision highp float;
precision highp sampler2DShadow;
in vec3 across, world, own;
in vec4 tone, shade;
in vec2 at;
flat in float serial;
uniform vec4 tint;
uniform float lit;
uniform vec3 eye, sky, ground, sun, sunWay;
uniform sampler2DShadow shadow;
uniform float texel;
uniform sampler2D hidden;
uniform vec3 hiddenScale; // from pixels to the texture; whether there is one
uniform vec4 surface; // roughness, metal, pattern, its scale
uniform vec4 grid; // size of a cell, reach, middle
uniform vec3 gridColor;
out vec4 result;
${NOISE}
// The share of the sun's light: samples of a disk, each the mean of four texels.
float light() {
  vec3 p = 0.5 * shade.xyz / shade.w + 0.5;
  if (any(greaterThan(abs(p - 0.5), vec3(0.5)))) return 1.0;
  p.z -= 0.0006;
  float sum = 0.0, turn = noise();
  for (int i = 0; i < 9; ++i) {
    sum += texture(shadow, vec3(p.xy + 3.2 * texel * spiral(i, 9.0, turn), p.z));
  }
  return sum / 9.0;
}

// Occlusion, smoothed over the pattern of its samples.
float open() {
  if (hiddenScale.z == 0.0) return 1.0;
  vec2 p = gl_FragCoord.xy * hiddenScale.xy, d = 2.0 * hiddenScale.xy;
  return 0.25 * (texture(hidden, p + d).x + texture(hidden, p - d).x +
    texture(hidden, p + vec2(d.x, -d.y)).x + texture(hidden, p + vec2(-d.x, d.y)).x);
}

// Grid lines one cell apart, every tenth stronger, fading with distance.
vec4 onGrid(vec4 c) {
  vec2 cells = at / grid.x;
  if (surface.z >= 3.0) cells.x -= 10.0 * fract(surface.z);
  vec2 width = fwidth(cells) * 1.2;
  vec2 line = smoothstep(width, vec2(0.0), abs(fract(cells - 0.5) - 0.5));
  vec2 major = smoothstep(width * 0.2, vec2(0.0), abs(fract(cells * 0.1 - 0.5) - 0.5));
  float strong = max(max(line.x, line.y) * 0.4, max(major.x, major.y) * 0.8);
  c.rgb = mix(c.rgb, gridColor, strong * 0.8);
  c.a *= 1.0 - smoothstep(0.25, 1.0, length(at - grid.zw) / grid.y);
  return c;
}

// Year rings of wood along the first axis, threads of cloth, tiles, sectors about the last axis; fine ones
// vanish where they are finer than pixels.
vec3 pattern() {
  if (surface.z == 5.0) {
    vec3 p = own * surface.w, d = abs(fract(p) - 0.5), fine = fwidth(p) + 1e-5;
    vec3 line = smoothstep(0.03 + fine, vec3(0.03), d) * smoothstep(0.5, 0.2, fine);
    return vec3(1.0 - 0.35 * max(line.x, max(line.y, line.z)));
  }
  if (surface.z == 4.0) {
    float p = sin(surface.w * atan(own.y, own.x)), fine = min(fwidth(p), 1.0);
    return mix(vec3(1.0), vec3(0.62, 0.12, 0.06), smoothstep(-fine, fine, p));
  }
  if (surface.z == 1.0) {
    vec3 p = own * surface.w + vec3(7.0, 3.0, 5.0) * serial;
    float rings = 26.0 * length(p.yz * vec2(1.0, 0.55) + 0.06 * sin(vec2(2.1, 1.3) * p.x + p.zy));
    rings += 1.5 * sin(3.0 * p.x + 2.0 * p.y);
    return vec3(1.0 - 0.28 * (0.5 + 0.5 * sin(rings)) * smoothstep(2.5, 0.5, fwidth(rings)));
  }
  if (surface.z == 2.0) {
    vec3 p = own * surface.w, w = sin(p);
    float fine = smoothstep(2.0, 0.6, length(fwidth(p)));
    return vec3(1.0 - 0.22 * fine * (0.5 - 0.5 * (w.x * w.y + w.y * w.z + w.z * w.x) / 1.2));
  }
  if (surface.z >= 3.0) {
    float p = own.x * surface.w - fract(surface.z), fine = fwidth(p);
    return vec3(1.0 - 0.55 * smoothstep(0.25 - fine, 0.25 + fine, abs(fract(p) - 0.5)) * smoothstep(0.9, 0.3, fine));
  }
  return vec3(1.0);
}

// Light that comes from a direction, seen by a surface of some roughness: sky, ground, a lamp.
vec3 around(vec3 way, float rough) {
  float soft = mix(0.06, 1.0, rough);
  vec3 c = mix(0.85 * ground, sky, smoothstep(-soft, soft, way.y));
  float lamp = dot(way, normalize(vec3(-sunWay.z, 0.9, sunWay.x)));
  return c + 1.4 * (1.0 - rough) * sky * smoothstep(0.86 - 0.3 * soft, 0.93 + 0.1 * soft, lamp);
}

// Lambert and GGX by the sun, the sky's diffuse light, and its reflection: Karis 2014, Physically based
// shading on mobile.
vec3 shaded(vec3 base) {
  vec3 n = normalize(across) * (gl_FrontFacing ? 1.0 : -1.0);
  vec3 v = normalize(eye - world);
  float rough = surface.x, metal = surface.y, nv = max(dot(n, v), 1e-3), facing = dot(n, sunWay);
  vec3 f0 = mix(vec3(0.04), base, metal), diffuse = base * (1.0 - metal) / 3.14159265;
  float free = open();
  vec3 c = diffuse * mix(ground, sky, 0.5 + 0.5 * n.y) * free;
  vec4 r = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
  if (grid.x == 0.0) c += (f0 * (r.z - 1.04 * a) + r.w + 1.04 * a) * around(reflect(-v, n), rough) * free / 3.14159265;
  if (facing > 0.0) {
    vec3 half_ = normalize(v + sunWay);
    float nh = max(dot(n, half_), 0.0), a2 = rough * rough * rough * rough;
    float d = nh * nh * (a2 - 1.0) + 1.0, k = 0.5 * rough * rough;
    float lobe = a2 / (d * d) / (4.0 * (nv * (1.0 - k) + k) * (facing * (1.0 - k) + k) + 1e-4);
    vec3 f = f0 + (1.0 - f0) * pow(1.0 - max(dot(v, half_), 0.0), 5.0);
    c += (diffuse + min(lobe, 30.0) * f / 3.14159265) * sun * facing * light();
  }
  return c;
}

// Khronos neutral tone mapping: colours below 0.76 stay as they are.
vec3 toned(vec3 c) {
  float peak = max(c.r, max(c.g, c.b));
  if (peak < 0.76) return c;
  float new = 1.0 - 0.0576 / (peak - 0.52);
  return mix(vec3(new), c * new / peak, 1.0 / (0.15 * (peak - new) + 1.0));
}

vec3 encoded(vec3 c) {
  return mix(1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, 12.92 * c, lessThan(c, vec3(0.0031308)));
}

void main() {
  vec4 c = tint * tone;
  if (grid.x > 0.0) c = onGrid(c);
  if (lit > 0.0) c.rgb = toned(shaded(grid.x > 0.0 ? c.rgb : c.rgb * pattern()));
  result = vec4(encoded(c.rgb), c.a);
}`,
];
