// Turns a module of WebAssembly's text format into bytes: as much of the format as the sources here need, which is one function in
// folded form and one memory. What it does not know it refuses. The format is that of the core specification, chapters 5 and 6.

/** Words and lists of them, nested. @typedef {any} Tree */

const I32 = 0x7f;
const TYPES = new Map([
  ["i32", I32],
  ["i64", 0x7e],
  ["v128", 0x7b],
]);
const EMPTY_BLOCK = 0x40;
const LOOP = 0x03;
const IF = 0x04;
const END = 0x0b;
const BRANCH_IF = 0x0d;
const RETURN = 0x0f;

/** Instructions without anything but operands. @type {ReadonlyMap<string, readonly number[]>} */
const PLAIN = new Map([
  ["i32.ne", [0x47]],
  ["i32.lt_u", [0x49]],
  ["i32.ctz", [0x68]],
  ["i32.popcnt", [0x69]],
  ["i32.add", [0x6a]],
  ["i32.sub", [0x6b]],
  ["i32.mul", [0x6c]],
  ["i32.and", [0x71]],
  ["i32.or", [0x72]],
  ["i32.shl", [0x74]],
  ["i32.shr_u", [0x76]],
  ["i8x16.splat", vector(0x0f)],
  ["i16x8.splat", vector(0x10)],
  ["i8x16.eq", vector(0x23)],
  ["i8x16.ne", vector(0x24)],
  ["i8x16.lt_s", vector(0x25)],
  ["i8x16.lt_u", vector(0x26)],
  ["v128.and", vector(0x4e)],
  ["v128.or", vector(0x50)],
  ["v128.any_true", vector(0x53)],
  ["i8x16.bitmask", vector(0x64)],
  ["i8x16.narrow_i16x8_u", vector(0x66)],
  ["i16x8.shr_u", vector(0x8d)],
  ["i16x8.min_u", vector(0x97)],
  ["i8x16.relaxed_swizzle", vector(0x100)],
]);

/** Instructions that read or write memory, with the alignment that is theirs (a power of two). @type {ReadonlyMap<string, readonly [readonly number[], number]>} */
const MEMORY = new Map([
  ["i32.load", [[0x28], 2]],
  ["i32.load8_u", [[0x2d], 0]],
  ["i32.load16_u", [[0x2f], 1]],
  ["i64.load", [[0x29], 3]],
  ["i64.store", [[0x37], 3]],
  ["i32.store16", [[0x3b], 1]],
  ["v128.load", [vector(0x00), 4]],
  ["v128.store", [vector(0x0b), 4]],
]);

/** @type {ReadonlyMap<string, number>} */
const LOCAL = new Map([
  ["local.get", 0x20],
  ["local.set", 0x21],
  ["local.tee", 0x22],
]);

/**
 * The bytes of the module that `text` describes.
 *
 * @param {string} text
 */
export function assemble(text) {
  const [module, ...rest] = read(text);
  const [kind, memory, func, ...more] = list(module);
  if (kind !== "module" || rest.length > 0 || more.length > 0) throw new Error("a module with one memory and one function is expected");
  const [, memoryExport, least, most] = list(memory);
  const { name, parameters, results, locals, body } = partsOf(list(func));
  const names = new Map([...parameters, ...locals].map(([local], index) => [local, index]));
  const groups = locals.map(([, type]) => type).reduce(group, /** @type {[number, number][]} */ ([]));
  const code = [
    ...counted(groups.map(([count, type]) => [...unsigned(count), type])),
    ...body.flatMap((part) => encode(part, names, [])),
    END,
  ];
  const exports = [
    [...string(exportedName(memoryExport)), 2, 0],
    [...string(name), 0, 0],
  ];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, counted([[0x60, ...counted(parameters.map(([, type]) => [type])), ...counted(results.map((type) => [type]))]])),
    ...section(3, counted([[0]])),
    ...section(5, counted([[1, ...unsigned(Number(least)), ...unsigned(Number(most))]])),
    ...section(7, counted(exports)),
    ...section(10, counted([[...unsigned(code.length), ...code]])),
  ]);
}

/**
 * Words and nested lists. A comment begins with `;;`.
 *
 * @param {string} text
 * @returns {Tree[]}
 */
function read(text) {
  /** @type {Tree[][]} */
  const open = [[]];
  for (const [token] of text.replace(/;;.*/g, "").matchAll(/[()]|"[^"]*"|[^\s()"]+/g)) {
    if (token === "(") open.push([]);
    else if (token === ")") {
      const closed = open.pop() ?? [];
      const around = open.at(-1);
      if (around === undefined) throw new Error("a closing parenthesis is too many");
      around.push(closed);
    } else open.at(-1)?.push(token);
  }
  const [whole, unclosed] = open;
  if (whole === undefined || unclosed !== undefined) throw new Error("a closing parenthesis is missing");
  return whole;
}

/** @param {readonly Tree[]} func */
function partsOf([kind, exported, ...parts]) {
  if (kind !== "func") throw new Error("a function is expected");
  /** @param {string} word */
  const declared = (word) => parts.filter((part) => part[0] === word).map(list);
  return {
    name: exportedName(exported),
    parameters: declared("param").map(named),
    results: declared("result").map(([, type]) => typeOf(type)),
    locals: declared("local").map(named),
    body: parts.filter((part) => !["param", "result", "local"].includes(String(part[0]))),
  };
}

/**
 * @param {Tree[]} declaration
 * @returns {[string, number]}
 */
function named([, name, type]) {
  return [String(name), typeOf(type)];
}

/**
 * One instruction, after those that make its operands.
 *
 * @param {Tree} tree
 * @param {ReadonlyMap<string, number>} names
 * @param {readonly string[]} labels of the blocks around it, the outermost first
 * @returns {number[]}
 */
function encode(tree, names, labels) {
  const [word, ...parts] = list(tree);
  const kind = String(word);
  /** @param {readonly Tree[]} operands */
  const all = (operands, inside = labels) => operands.flatMap((operand) => encode(operand, names, inside));
  const plain = PLAIN.get(kind);
  if (plain) return [...all(parts), ...plain];
  const local = LOCAL.get(kind);
  const [first, ...others] = parts;
  if (local !== undefined) return [...all(others), local, ...unsigned(indexOf(names, first))];
  const access = MEMORY.get(kind);
  if (access) {
    const words = parts.filter((part) => typeof part === "string");
    const operands = parts.filter((part) => typeof part !== "string");
    return [...all(operands), ...access[0], ...unsigned(alignmentOf(words, access[1])), ...unsigned(numberAfter("offset=", words) ?? 0)];
  }
  if (kind === "i32.const") return [0x41, ...signed(Number(first) | 0)];
  if (kind === "v128.const") return [...vector(0x0c), ...constantBytes(parts)];
  if (kind === "return") return [...all(parts), RETURN];
  if (kind === "br_if") return [...all(others), BRANCH_IF, ...unsigned(depthOf(labels, first))];
  if (kind === "loop") return [LOOP, EMPTY_BLOCK, ...all(others, [...labels, String(first)]), END];
  if (kind === "if") {
    const [then, ...body] = list(parts.at(-1));
    if (then !== "then") throw new Error("an `if` needs a `then`, and has no `else` here");
    return [...all(parts.slice(0, -1)), IF, EMPTY_BLOCK, ...all(body, [...labels, ""]), END];
  }
  throw new Error(`the instruction \`${kind}\` is not known here; add it to scripts/assemble-wat.mjs`);
}

/** @param {readonly Tree[]} words */
function constantBytes([shape, ...values]) {
  if (shape !== "i64x2" || values.length !== 2) throw new Error("a constant vector is written as `i64x2` here");
  return [...new Uint8Array(BigInt64Array.from(values.map((value) => BigInt(String(value)))).buffer)];
}

/**
 * @param {readonly Tree[]} words
 * @param {number} own
 */
function alignmentOf(words, own) {
  const bytes = numberAfter("align=", words);
  return bytes === undefined ? own : Math.log2(bytes);
}

/**
 * @param {string} prefix
 * @param {readonly Tree[]} words
 */
function numberAfter(prefix, words) {
  const word = words.find((candidate) => typeof candidate === "string" && candidate.startsWith(prefix));
  return word === undefined ? undefined : Number(String(word).slice(prefix.length));
}

/**
 * @param {ReadonlyMap<string, number>} names
 * @param {Tree | undefined} name
 */
function indexOf(names, name) {
  const index = names.get(String(name));
  if (index === undefined) throw new Error(`there is no local \`${String(name)}\``);
  return index;
}

/**
 * @param {readonly string[]} labels
 * @param {Tree | undefined} label
 */
function depthOf(labels, label) {
  const at = labels.lastIndexOf(String(label));
  if (at === -1) throw new Error(`there is no block \`${String(label)}\` around the branch to it`);
  return labels.length - 1 - at;
}

/** @param {Tree | undefined} tree */
function list(tree) {
  if (!Array.isArray(tree)) throw new Error(`a list is expected instead of \`${String(tree)}\``);
  return tree;
}

/** @param {Tree | undefined} tree */
function typeOf(tree) {
  const type = TYPES.get(String(tree));
  if (type === undefined) throw new Error(`the type \`${String(tree)}\` is not known here`);
  return type;
}

/** @param {Tree | undefined} tree */
function exportedName(tree) {
  const [kind, name] = list(tree);
  if (kind !== "export") throw new Error("memory and function must be exported");
  return String(name).slice(1, -1);
}

/**
 * Locals of one type in a row are declared together.
 *
 * @param {[number, number][]} groups
 * @param {number} type
 */
function group(groups, type) {
  const last = groups.at(-1);
  if (last?.[1] === type) last[0] += 1;
  else groups.push([1, type]);
  return groups;
}

/** @param {number} opcode */
function vector(opcode) {
  return [0xfd, ...unsigned(opcode)];
}

/**
 * @param {number} id
 * @param {readonly number[]} content
 */
function section(id, content) {
  return [id, ...unsigned(content.length), ...content];
}

/** @param {readonly (readonly number[])[]} items */
function counted(items) {
  return [...unsigned(items.length), ...items.flat()];
}

/** @param {string} text */
function string(text) {
  return [...unsigned(text.length), ...Buffer.from(text)];
}

/** @param {number} value */
function unsigned(value) {
  const bytes = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

/** @param {number} value */
function signed(value) {
  const bytes = [];
  let rest = value;
  while (rest < -64 || rest > 63) {
    bytes.push((rest & 127) | 128);
    rest >>= 7;
  }
  return [...bytes, rest & 127];
}
