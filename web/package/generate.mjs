// Writes the bindings of the public headers: api.js (readers and writers of structures, a method for
// every function), api.d.ts (its types with the headers' comments), exports.txt (symbols of the
// module) and layout.c (checks of offsets at compile time).
// usage: node generate.mjs INCLUDE_FOLDER OUTPUT_FOLDER
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readHeaders, scalarOf, scalarSize } from './headers.mjs';
import { placeOf } from './src/structures.js';

const [include, output] = process.argv.slice(2);
// Recordings are files, which a page cannot write.
const HEADERS = readdirSync(include).filter((name) => name.endsWith('.h') && name !== 'recorder.h');
const model = readHeaders(HEADERS.map((name) => join(include, name)));

// Functions that runtime.js has by hand, or that a host in JavaScript has no use for.
const BY_HAND = new Set([
  'tn_world_create',
  'tn_world_destroy',
  'tn_world_save',
  'tn_world_restore',
  'tn_world_copy',
  'tn_world_save_state',
  'tn_world_restore_state',
  'tn_world_rays',
  'tn_world_ray_all',
  'tn_world_cast_all',
  'tn_world_draw',
  'tn_world_set_pair_filter',
  'tn_world_pair_filter',
  'tn_bodies_read_poses',
  'tn_bodies_read_velocities',
  'tn_bodies_read_matrices',
  'tn_bodies_read_awake',
  'tn_bodies_write_poses',
  'tn_bodies_write_velocities',
  'tn_bodies_apply_forces',
  'tn_joint_def_at',
  'tn_joint_def_between',
  'tn_geometry_get_source',
  'tn_soft_mesh_cloth',
  'tn_soft_mesh_rope',
  'tn_soft_mesh_box',
  'tn_soft_mesh_ball',
  'tn_soft_mesh_tube',
  'tn_soft_mesh_sphere',
  'tn_soft_mesh_triangles',
  'tn_soft_mesh_solid',
  'tn_soft_mesh_tethers',
  'tn_soft_mesh_free',
  'tn_soft_skin_bind',
  'tn_soft_skin_read',
  'tn_soft_skin_free',
  'tn_shape_box',
  'tn_coupling_def_axis',
  'tn_coupling_def_point',
]);
const isSkipped = ({ name }) =>
  ['tn_version', 'tn_config'].includes(name) ||
  BY_HAND.has(name) ||
  /user_data$/.test(name) ||
  name.startsWith('tn_articulation') ||
  name.startsWith('tn_default_');

// Lists of a soft body's definition: numbers per item, and the field with the number of items.
const SOFT_LISTS = {
  vertices: [3, 'vertex_count'],
  edges: [2, 'edge_count'],
  triangles: [3, 'triangle_count'],
  tetrahedra: [4, 'tetrahedron_count'],
  hexahedra: [8, 'hexahedron_count'],
  tethers: [2, 'tether_count'],
  tether_lengths: [1],
  clusters: [1],
  cluster_sizes: [1, 'cluster_count'],
  masses: [1],
};

const camel = (name) => name.replace(/_(\w)/g, (_, c) => c.toUpperCase());
const upper = (name) => name[0].toUpperCase() + name.slice(1);
const typeName = (name) => upper(camel(name.replace(/^tn_/, '')));
const isId = (type) => /^tn_\w+_id$/.test(type);
const TUPLES = {
  tn_vec3: ['Vec3', 'f32', 3],
  tn_pos: ['Vec3', 'f64', 3],
  tn_quat: ['Quat', 'f32', 4],
  tn_range: ['Range', 'f32', 2],
};
const HIDDEN = new Set(['void', 'callback', 'tn_allocator']);

// ---- Structures ----------------------------------------------------------------------------------

const isShown = (field) => !HIDDEN.has(field.type) && field.name !== 'cookie';

// The kind of a field's value for structures.js. Enums and structures are references.
function kindOf(field, refs) {
  const refer = (mark, code) => {
    if (!refs.includes(code)) refs.push(code);
    return `${mark}${refs.indexOf(code)}`;
  };
  if (field.pointer) return field.type === 'char' ? 'text' : '';
  if (isId(field.type)) return 'id';
  if (TUPLES[field.type]) return `${TUPLES[field.type][1]}*${TUPLES[field.type][2]}`;
  if (model.enums.has(field.type)) return refer('#', field.type);
  if (field.type === 'bool') return 'bool';
  return scalarOf(field.type) ?? refer('@', `[get_${field.type}, set_${field.type}]`);
}

const sizeOf = (field) =>
  field.pointer || model.enums.has(field.type)
    ? 4
    : (scalarSize(field.type) ?? model.structs.get(field.type).size);

// The field with the number of items in use: `count` before an array of structures, or the next one.
function counterOf(struct, field) {
  const next = struct.fields[struct.fields.indexOf(field) + 1];
  if (/_count$/.test(next?.name)) return next;
  return model.structs.has(field.type) && !TUPLES[field.type]
    ? struct.fields.find(({ name }) => name === 'count')
    : undefined;
}
const isCounter = (struct, field) =>
  struct.fields.some((other) => other.length && counterOf(struct, other) === field);

function structCode(struct) {
  const isSoft = struct.name === 'tn_soft_def';
  const refs = [];
  let end = 0;
  // The offset is left out where it follows from the fields before.
  const write = (field, kind, ...rest) => {
    const [next, size] = placeOf(kind, end, rest);
    end = field.offset + size;
    const offset = next === field.offset ? '' : field.offset;
    return [camel(field.name), offset, kind, ...rest].join(':');
  };
  const fields = struct.fields
    .filter((field) => isShown(field) && !isCounter(struct, field))
    .filter((field) => !(isSoft && /_count$/.test(field.name)))
    .map((field) => {
      if (isSoft && SOFT_LISTS[field.name]) {
        const [width, count] = SOFT_LISTS[field.name];
        const counter = struct.fields.find(({ name }) => name === count)?.offset ?? '';
        return write(field, 'list', field.type === 'int' ? 'i32' : 'f32', width, counter);
      }
      const kind = kindOf(field, refs);
      if (!field.length) return write(field, kind);
      const counter = counterOf(struct, field)?.offset ?? '';
      return write(field, kind, field.length, sizeOf(field), counter);
    });
  return `
const size_${struct.name} = ${struct.size};
const [get_${struct.name}, set_${struct.name}] = structure('${typeName(struct.name)}', '${fields.join(' ')}'${refs.length ? `, [${refs.join(', ')}]` : ''});`;
}

const isUsed = ({ name }) =>
  !isId(name) &&
  !TUPLES[name] &&
  !['tn_allocator', 'tn_debug_draw', 'tn_soft_skin', 'tn_geometry_source', 'tn_keyframe'].includes(
    name,
  ) &&
  !name.startsWith('tn_articulation');
// Each structure after those that are its parts.
const usedStructs = [];
function use(struct) {
  if (!struct || !isUsed(struct) || usedStructs.includes(struct)) return;
  struct.fields.filter(isShown).forEach((field) => use(model.structs.get(field.type)));
  usedStructs.push(struct);
}
model.structs.forEach(use);

// ---- Functions -----------------------------------------------------------------------------------

// tn_body_set_velocity is setBodyVelocity, tn_body_position bodyPosition, tn_world_step step.
const VERBS = /^(create|destroy|set|get|is|apply|move|update)(?:_|$)(.*)$/;
function methodName(name) {
  const found = name.match(/^tn_([a-z]+?)_(.*)$/);
  if (!found) return name.slice(3); // tn_sin
  const [, noun, rest] = found;
  const full = name.startsWith('tn_height_field_')
    ? ['height_field', name.slice(16)]
    : [noun, rest];
  const verb = full[1].match(VERBS);
  const object = full[0] === 'world' ? '' : full[0];
  if (verb) return camel([verb[1], object, verb[2]].filter(Boolean).join('_'));
  return camel([object, full[1]].filter(Boolean).join('_'));
}

// The parameters of a function as the arguments of its method: how each is written, and its type.
function describe(fn) {
  const list = fn.parameters;
  const out = {
    args: [],
    calls: [],
    after: null,
    isMethod: list[0]?.type === 'tn_world' && list[0].pointer === 1,
    prepare: [],
  };
  for (let i = out.isMethod ? 1 : 0; i < list.length; ++i) {
    const p = list[i];
    const key = p.name === 'in' ? 'values' : camel(p.name); // a word of the language
    const next = list[i + 1];
    if (p.pointer === 1 && next?.name === 'capacity') {
      out.listOf = p.type;
      out.calls.push('LIST', 'CAPACITY');
      i += 1;
    } else if (p.pointer === 1 && p.name === 'count' && p.type === 'int') {
      out.eventsOf = fn.result.type;
      out.prepare.push('const n = m.temp(4);');
      out.calls.push('n');
    } else if (p.pointer === 1 && p.isConst && p.type === 'char') {
      out.args.push([key, 'string']);
      out.calls.push(`m.tempString(${key})`);
    } else if (
      p.pointer === 1 &&
      p.isConst &&
      next &&
      /(^|_)count$/.test(next.name) &&
      next.type === 'int'
    ) {
      const width = p.name === 'triangles' ? 3 : 1;
      out.args.push([key, arrayType(p.type)]);
      out.prepare.push(`const ${key}_ = m.tempList(${key}, ${listKind(p.type)}, ${width});`);
      out.calls.push(`${key}_.at`, `${key}_.count`);
      i += 1;
    } else if (p.pointer === 1 && p.isConst && p.length === 0 && isListAlone(p)) {
      out.args.push([key, arrayType(p.type)]);
      out.prepare.push(`const ${key}_ = m.tempList(${key}, ${listKind(p.type)}, 1);`);
      out.calls.push(`${key}_.at`);
      if (next?.pointer === 1 && list[i + 2]?.name === 'count') continue;
    } else if (p.pointer === 1 && model.structs.has(p.type)) {
      out.args.push([key, defType(p.type)]);
      out.prepare.push(`const ${key}_ = ${structAt(p.type, key)};`);
      out.calls.push(`${key}_`);
    } else if (p.length) {
      out.args.push([key, `readonly number[]`]);
      out.prepare.push(`const ${key}_ = m.tempList(${key}, 'i32', 1);`);
      out.calls.push(`${key}_.at`);
    } else if (p.pointer) {
      throw new Error(`${fn.name}: parameter ${p.name}`);
    } else if (isId(p.type)) {
      out.args.push([key, typeName(p.type)]);
      out.calls.push(`m.tempId(${key})`);
    } else if (TUPLES[p.type]) {
      out.args.push([key, TUPLES[p.type][0]]);
      out.calls.push(`m.tempTuple(${key}, '${TUPLES[p.type][1]}', ${TUPLES[p.type][2]})`);
    } else if (model.structs.has(p.type)) {
      out.args.push([
        `${key}${p.type === 'tn_query_filter' ? '?' : ''}`,
        hasDefaults(p.type) ? `Partial<${typeName(p.type)}>` : typeName(p.type),
      ]);
      out.prepare.push(`const ${key}_ = ${structAt(p.type, key)};`);
      out.calls.push(`${key}_`);
    } else if (model.enums.has(p.type)) {
      out.args.push([key, typeName(p.type)]);
      out.calls.push(`m.word(${p.type}, ${key})`);
    } else if (p.type === 'bool') {
      out.args.push([key, 'boolean']);
      out.calls.push(`${key} ? 1 : 0`);
    } else {
      out.args.push([key, scalarOf(p.type) === 'u64' ? 'bigint' : 'number']);
      out.calls.push(key);
    }
  }
  return out;
}

const isListAlone = (p) =>
  ['heights', 'particles'].includes(p.name) || (p.name === 'forces' && p.type === 'tn_vec3');
const listKind = (type) =>
  isId(type)
    ? `'id'`
    : TUPLES[type]
      ? `['${TUPLES[type][1]}', ${TUPLES[type][2]}]`
      : scalarOf(type)
        ? `'${scalarOf(type)}'`
        : `[set_${type}, size_${type}]`;
const arrayType = (type) =>
  isId(type)
    ? `readonly ${typeName(type)}[]`
    : TUPLES[type]
      ? 'Vectors'
      : scalarOf(type)
        ? 'Numbers'
        : `readonly ${typeName(type)}[]`;
const defType = (type) => (hasDefaults(type) ? `Partial<${typeName(type)}>` : typeName(type));

// A temporary structure: the defaults, then what the caller gives.
const DEFAULTS = new Map(
  model.functions
    .filter(({ name }) => name.startsWith('tn_default_'))
    .map((fn) => [fn.result.type, fn]),
);
// Structures whose defaults are a part of another one's.
const PARTS = {
  tn_filter: ['tn_shape_def', 'filter'],
  tn_coupling_drive: ['tn_coupling_def', 'drive'],
};
const hasDefaults = (type) => DEFAULTS.has(type) || !!PARTS[type];
function structAt(type, key) {
  const usual = DEFAULTS.get(type);
  if (PARTS[type]) {
    const [whole, name] = PARTS[type];
    const { size, fields } = model.structs.get(whole);
    return `m.tempPart('tn_default_${whole.slice(3)}', ${size}, ${fields.find((f) => f.name === name).offset}, set_${type}, ${key} ?? {})`;
  }
  if (!usual) return `m.tempStruct(size_${type}, set_${type}, ${key}, set_${type}.keys)`;
  const kind = usual.parameters[0];
  return `m.tempDef('${usual.name}', size_${type}, set_${type}, ${key} ?? {}${kind ? `, ${kind.type}` : ''})`;
}

const FLAT = { tn_vec3: ['f32', 3], tn_pos: ['f64', 3], float: ['f32', 1], int: ['i32', 1] };
const FLAT_TYPES = { f32: 'Float32Array', f64: 'Float64Array', i32: 'Int32Array' };

function resultOf(fn, call, d) {
  const type = fn.result.type;
  if (d.listOf) {
    const of = d.listOf;
    const again = (list, room) => call.replace('LIST', list).replace('CAPACITY', room);
    if (FLAT[of]) {
      const [kind, width] = FLAT[of];
      return [
        `const c = ${again('0', '0')}; const at = m.temp(c * ${width * { f32: 4, i32: 4, f64: 8 }[kind]}); ${again('at', 'c')}; return m.copy('${kind}', at, c * ${width});`,
        FLAT_TYPES[kind],
      ];
    }
    const size = isId(of) ? 12 : `size_${of}`;
    const get = isId(of) ? 'm.id(at + 12 * i)' : `get_${of}(m, at + size_${of} * i)`;
    return [
      `const c = ${again('0', '0')}; const at = m.temp(c * ${size}); ${again('at', 'c')}; return m.each(c, (i) => ${get});`,
      `${typeName(of)}[]`,
    ];
  }
  if (d.eventsOf) {
    return [
      `const at = ${call}; return m.each(m.i32(n), (i) => get_${type}(m, at + size_${type} * i));`,
      `${typeName(type)}[]`,
    ];
  }
  if (fn.result.pointer) return [`return m.string(${call});`, 'string'];
  if (type === 'void') return [`${call};`, 'void'];
  if (type === 'bool') {
    const commands = /_(set|destroy|apply|move_to|restore|update)(_|$)/.test(fn.name);
    return commands
      ? [`m.must(${call}, '${methodName(fn.name)}');`, 'void']
      : [`return !!${call};`, 'boolean'];
  }
  if (model.enums.has(type)) return [`return ${type}[${call}];`, typeName(type)];
  if (model.structs.has(type)) {
    const size = model.structs.get(type).size;
    const get = isId(type)
      ? 'm.id(r)'
      : TUPLES[type]
        ? `m.${TUPLES[type][1]}s(r, ${TUPLES[type][2]})`
        : `get_${type}(m, r)`;
    const withResult = call.replace('(', call.endsWith('()') ? '(r' : '(r, ');
    return [
      `const r = m.temp(${size}); ${withResult}; return ${get};`,
      isId(type)
        ? typeName(type)
        : TUPLES[type]
          ? `[${new Array(TUPLES[type][2]).fill('number').join(', ')}]`
          : typeName(type),
    ];
  }
  if (scalarOf(type) === 'u64') return [`return BigInt.asUintN(64, ${call});`, 'bigint'];
  if (scalarOf(type) === 'u32') return [`return ${call} >>> 0;`, 'number'];
  return [`return ${call};`, 'number'];
}

const doc = (comment, indent = '') =>
  comment
    ? `${indent}/**\n${comment
        .split('\n')
        .map((line) => `${indent} * ${line}`.trimEnd())
        .join('\n')
        .replaceAll('*/', '* /')
        .replace(/^/, '')}\n${indent} */\n`
    : '';

// Names in comments as users of the package know them.
const NAMES = new Map(model.functions.map((fn) => [fn.name, methodName(fn.name)]));
const translate = (comment) =>
  comment
    .replace(
      /\btn_\w+\b/g,
      (name) =>
        NAMES.get(name) ??
        (model.structs.has(name) || model.enums.has(name) ? typeName(name) : name),
    )
    .replace(/\bTN_[A-Z_]+\b/g, (name) => {
      for (const { values } of model.enums.values()) {
        const found = values.find((v) => v.name === name);
        if (found) return `'${found.short}'`;
      }
      return name;
    });

const methods = [];
const functions = [];
const types = { methods: [], functions: [] };
for (const fn of model.functions) {
  if (isSkipped(fn)) continue;
  const d = describe(fn);
  const [code, type] = resultOf(
    fn,
    `m.x.${fn.name}(${[...(d.isMethod ? ['m.world'] : []), ...d.calls].join(', ')})`,
    d,
  );
  const names = d.args.map(([name]) => name.replace('?', ''));
  const parts = d.args.map(([name, t]) => `${name}: ${t}`).join(', ');
  const comment = doc(translate(fn.comment), '  ');
  const begin = d.isMethod ? 'const m = this._begin();' : 'const m = free();';
  const body = `${begin} try { ${d.prepare.join(' ')} ${code} } finally { m.end(); }`;
  const name = methodName(fn.name);
  if (d.isMethod) {
    methods.push(`  ${name}(${names.join(', ')}) { ${body} }`);
    types.methods.push(`${comment}  ${name}(${parts}): ${type};`);
  } else {
    functions.push(`export function ${name}(${names.join(', ')}) { ${body} }`);
    types.functions.push(
      `${doc(translate(fn.comment))}export function ${name}(${parts}): ${type};`,
    );
  }
}

// Names of api.js in generated code.
const used = (code) =>
  [...new Set(code.join('\n').match(/\b(?:get|set|size)_tn_\w+|\btn_[a-z_]+(?=[,[])/g))].sort();
// Types of api.js in generated declarations, outside of comments.
const TYPES = new Set([
  ...['Vec3', 'Quat', 'Range', 'Numbers', 'Vectors'],
  ...[...model.structs.keys(), ...model.enums.keys()].map(typeName),
]);
const qualified = (text) => {
  const at = text.lastIndexOf('export function');
  return (
    text.slice(0, at) +
    text.slice(at).replace(/\b[A-Z]\w*\b/g, (name) => (TYPES.has(name) ? `api.${name}` : name))
  );
};

// ---- Files ---------------------------------------------------------------------------------------

const enumCode = [...model.enums.values()]
  .map(
    ({ name, values }) =>
      `const ${name} = {${values
        .filter((v) => !/_count$/.test(v.short))
        .map((v) => `${v.value}: '${v.short}'`)
        .join(', ')}};`,
  )
  .join('\n');
// Offsets of fields that files by hand need.
const offsetsOf = (name, keep) =>
  Object.fromEntries(
    model.structs
      .get(name)
      .fields.filter(keep)
      .map((field) => [field.name, field.offset]),
  );
const draw = model.structs.get('tn_debug_draw');
const softDef = model.structs.get('tn_soft_def');
const softOffset = (name) => softDef.fields.find((field) => field.name === name).offset;
const offsets = {
  WORLD_DEF: offsetsOf('tn_world_def', ({ name }) =>
    ['log', 'log_context', 'clock'].includes(name),
  ),
  GEOMETRY: {
    size: model.structs.get('tn_geometry_source').size,
    ...offsetsOf('tn_geometry_source', () => true),
  },
  DRAW: {
    size: draw.size,
    ...offsetsOf('tn_debug_draw', ({ name }) => ['line', 'force_scale'].includes(name)),
    flags: offsetsOf('tn_debug_draw', ({ type }) => type === 'bool'),
  },
  // By key: offset, type, numbers per item, offset of the number of items.
  SOFT: Object.fromEntries(
    Object.entries(SOFT_LISTS).map(([name, [width, count]]) => {
      const field = softDef.fields.find((f) => f.name === name);
      const counted =
        count ??
        { tether_lengths: 'tether_count', masses: 'vertex_count', clusters: 'cluster_count' }[name];
      return [
        camel(name),
        [field.offset, field.type === 'int' ? 'i32' : 'f32', width, softOffset(counted)],
      ];
    }),
  ),
};
// Those of view.js, which the core does not need.
const layouts = {
  CONTACT: {
    size: model.structs.get('tn_contact').size,
    point: model.structs.get('tn_contact_point').size,
    ...offsetsOf('tn_contact', ({ name }) => !/_[ab]$/.test(name)),
    ...offsetsOf('tn_contact_point', ({ name }) => name !== 'position'),
  },
  JOINT_STATE: {
    size: model.structs.get('tn_joint_state').size,
    ...offsetsOf('tn_joint_state', () => true),
  },
};
const bits = model.enums.get('tn_step_status').values;
// What files by hand and functions.js need of api.js.
const source = fileURLToPath(new URL('src', import.meta.url));
const others = readdirSync(source)
  .filter((name) => name.endsWith('.js'))
  .map((name) => readFileSync(join(source, name), 'utf8'));
const defined = [
  ...model.enums.keys(),
  ...usedStructs.flatMap(({ name }) => [`size_${name}`, `get_${name}`, `set_${name}`]),
];
const needed = new Set([...others, ...functions].join('\n').match(/\b(?:[gs]et_|size_)?tn_\w+/g));
const exported = defined.filter((name) => needed.has(name));
mkdirSync(output, { recursive: true });
writeFileSync(
  join(output, 'api.js'),
  `// Made by generate.mjs from the public headers.
import { structure } from './structures.js';

${enumCode}
${Object.entries(offsets)
  .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
  .join('\n')}
/** Bits of the result of World.step(). */
export const STEP = Object.freeze({${bits.map((v) => `${v.short.toUpperCase()}: ${v.value}`).join(', ')}});
${usedStructs.map(structCode).join('\n')}
export {
  ${exported.join(',\n  ')},
};

// The methods of World that follow from the headers.
export class WorldBase {
${methods.join('\n')}
}
`,
);
writeFileSync(
  join(output, 'functions.js'),
  `// Made by generate.mjs from the public headers: functions without a world.
import { free } from './runtime.js';
import {
  ${used(functions).join(',\n  ')},
} from './api.js';

export { STEP } from './api.js';
${functions.join('\n')}
`,
);

const fieldType = (struct, field) => {
  if (struct.name === 'tn_soft_def' && SOFT_LISTS[field.name]) return 'Numbers';
  const one = field.pointer
    ? 'string'
    : isId(field.type)
      ? typeName(field.type)
      : TUPLES[field.type]
        ? TUPLES[field.type][0]
        : model.enums.has(field.type)
          ? typeName(field.type)
          : field.type === 'bool'
            ? 'boolean'
            : scalarOf(field.type) === 'u64'
              ? 'bigint | number'
              : scalarOf(field.type)
                ? 'number'
                : model.structs.get(field.type) && /_def$|drive$|material$|filter$/.test(field.type)
                  ? `Partial<${typeName(field.type)}>`
                  : typeName(field.type);
  return field.length ? `readonly ${/[ |]/.test(one) ? `(${one})` : one}[]` : one;
};
const interfaces = usedStructs.map((struct) => {
  const fields = struct.fields
    .filter(
      (field) =>
        isShown(field) &&
        !isCounter(struct, field) &&
        !(struct.name === 'tn_soft_def' && /_count$/.test(field.name)),
    )
    .map(
      (field) =>
        `${doc(translate(field.comment), '  ')}  ${camel(field.name)}: ${fieldType(struct, field)};`,
    );
  return `${doc(translate(struct.comment))}export interface ${typeName(struct.name)} {\n${fields.join('\n')}\n}`;
});
const unions = [...model.enums.values()]
  .filter(({ name }) => name !== 'tn_step_status')
  .map(
    ({ name, values, comment }) =>
      `${doc(translate(comment))}export type ${typeName(name)} = ${values
        .filter((v) => v.short !== 'kind_count')
        .map((v) => `'${v.short}'`)
        .join(' | ')};`,
  );
const ids = [...model.structs.values()]
  .filter(({ name }) => isId(name))
  .map(
    ({ name, comment }) =>
      `${doc(comment)}export type ${typeName(name)} = number & { readonly __${typeName(name)}?: never };`,
  );
writeFileSync(
  join(output, 'api.d.ts'),
  `// Made by generate.mjs from the public headers.

/** x, y, z; an array, a tuple or a typed array. */
export type Vec3 = readonly [number, number, number] | ArrayLike<number>;
/** x, y, z, w of a unit quaternion. */
export type Quat = readonly [number, number, number, number] | ArrayLike<number>;
/** Lower and upper end; infinite for none. */
export type Range = readonly [number, number] | ArrayLike<number>;
/** Numbers one after the other. */
export type Numbers = ArrayLike<number>;
/** Vectors as a flat array of numbers, or as an array of vectors. */
export type Vectors = ArrayLike<number> | readonly Vec3[];

${[...ids, ...unions].join('\n')}
/** Bits of the result of World.step(). */
export const STEP: Readonly<{
${bits.map((v) => `${doc(v.comment, '  ')}  ${v.short.toUpperCase()}: ${v.value};`).join('\n')}
}>;
${interfaces.join('\n')}

export class WorldBase {
${types.methods.join('\n')}
}
`,
);
writeFileSync(
  join(output, 'functions.d.ts'),
  `// Made by generate.mjs from the public headers: functions without a world.
import type * as api from './api.js';

${types.functions.map((text) => qualified(text)).join('\n')}
`,
);

writeFileSync(
  join(output, 'layouts.js'),
  `// Made by generate.mjs from the public headers.\n${Object.entries(layouts)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
    .join('')}`,
);

const symbols = model.functions
  .filter((fn) => !isSkipped(fn) || BY_HAND.has(fn.name) || fn.name.startsWith('tn_default_'))
  .filter(({ name }) => !/articulation/.test(name))
  .map(({ name }) => name);
writeFileSync(
  join(output, 'exports.txt'),
  `${['malloc', 'free', ...symbols].map((name) => `-Wl,--export=${name}`).join('\n')}\n`,
);
const checks = [...model.structs.values()].flatMap((struct) => [
  `_Static_assert(sizeof(${struct.name}) == ${struct.size}, "${struct.name}");`,
  ...struct.fields.map(
    (field) =>
      `_Static_assert(offsetof(${struct.name}, ${field.name}) == ${field.offset}, "${struct.name}.${field.name}");`,
  ),
]);
writeFileSync(
  join(output, 'layout.c'),
  `// Made by generate.mjs: the layout that api.js assumes.\n#include <stddef.h>\n#include <tenon/tenon.h>\n\n${checks.join('\n')}\n`,
);
