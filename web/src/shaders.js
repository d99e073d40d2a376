// The two shader programs: one for colours, one for the shadow map. Missing attributes have neutral
// values.

export const ATTRIBUTES = { position: 0, normal: 1, instance: 2, color: 6, size: 7 };

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

export const COLOR = [
  `${PLACE}
uniform mat4 sunView;
uniform float offset;
out vec3 across;
out vec4 tone, shade;
out vec2 at;
void main() {
  mat4 frame = model * instance;
  vec4 point = place(frame);
  mat3 turn = mat3(frame);
  vec3 scale = vec3(dot(turn[0], turn[0]), dot(turn[1], turn[1]), dot(turn[2], turn[2]));
  across = turn * (normal / scale);
  tone = color;
  at = position.xz;
  shade = sunView * (point + vec4(offset * normalize(across + 1e-9), 0.0));
  gl_Position = camera * point;
}`,
  `#version 300 es
precision highp float;
precision highp sampler2DShadow;
in vec3 across;
in vec4 tone, shade;
in vec2 at;
uniform vec4 tint;
uniform float lit;
uniform vec3 sky, ground, sun, sunWay;
uniform sampler2DShadow shadow;
uniform float texel;
uniform vec4 grid; // size of a cell, reach, middle
uniform vec3 gridColor;
out vec4 result;

// Five samples, each the mean of four texels.
float light() {
  vec3 p = 0.5 * shade.xyz / shade.w + 0.5;
  if (any(greaterThan(abs(p - 0.5), vec3(0.5)))) return 1.0;
  p.z -= 0.0005;
  float sum = texture(shadow, p);
  sum += texture(shadow, p + texel * vec3(1.3, 0.6, 0.0));
  sum += texture(shadow, p + texel * vec3(-0.6, 1.3, 0.0));
  sum += texture(shadow, p + texel * vec3(-1.3, -0.6, 0.0));
  sum += texture(shadow, p + texel * vec3(0.6, -1.3, 0.0));
  return 0.2 * sum;
}

// Grid lines one cell apart, every tenth stronger, fading with distance.
vec4 onGrid(vec4 c) {
  vec2 cells = at / grid.x;
  vec2 width = fwidth(cells) * 1.2;
  vec2 line = smoothstep(width, vec2(0.0), abs(fract(cells - 0.5) - 0.5));
  vec2 major = smoothstep(width * 0.2, vec2(0.0), abs(fract(cells * 0.1 - 0.5) - 0.5));
  float strong = max(max(line.x, line.y) * 0.55, max(major.x, major.y));
  c.rgb = mix(c.rgb, gridColor, strong * 0.8);
  c.a *= 1.0 - smoothstep(0.25, 1.0, length(at - grid.zw) / grid.y);
  return c;
}

vec3 encoded(vec3 c) {
  return mix(1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, 12.92 * c, lessThan(c, vec3(0.0031308)));
}

void main() {
  vec4 c = tint * tone;
  if (grid.x > 0.0) c = onGrid(c);
  if (lit > 0.0) {
    vec3 n = normalize(across) * (gl_FrontFacing ? 1.0 : -1.0);
    float facing = dot(n, sunWay);
    vec3 came = mix(ground, sky, 0.5 + 0.5 * n.y);
    if (facing > 0.0) came += sun * facing * light();
    c.rgb *= came / 3.14159265;
  }
  result = vec4(encoded(c.rgb), c.a);
}`,
];
