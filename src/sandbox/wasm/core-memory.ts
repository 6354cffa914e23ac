/**
 * Limits the linear memories of a core WebAssembly module: rewrites its memory section with a maximum.
 *
 * Trusts that the module is valid: the engine compiles what comes out, and refuses the rest. INVARIANT: no memory of
 * the result grows beyond the limit.
 */

/** Bytes of a page of linear memory. */
const PAGE_BYTES = 65_536;
/** Bytes before the first section: magic number and version. */
const HEADER_BYTES = 8;
const MEMORY_SECTION = 5;
/** Flags of a memory without and with a maximum. Shared memories and those of 64 bits have others, and are refused. */
const PLAIN_FLAGS = [0, 1];

/** A module that cannot be limited. */
export class UnlimitedMemory extends Error {}

/** Whether the module has a memory of its own. @throws UnlimitedMemory where it is damaged */
export function hasMemory(module: Uint8Array): boolean {
  return [...sectionsOf(module)].some(({ id }) => id === MEMORY_SECTION);
}

/**
 * The module with its memory limited.
 * @throws UnlimitedMemory where it has several memories, one of another kind, or one that starts above the limit
 */
export function limitMemory(module: Uint8Array, bytesMax: number): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [module.subarray(0, HEADER_BYTES)];
  for (const { id, start, body, end } of sectionsOf(module))
    parts.push(id === MEMORY_SECTION ? limitedSection(module, body, bytesMax) : module.subarray(start, end));
  return Uint8Array.from(Buffer.concat(parts));
}

/** Sections in their order: where each starts, where what it says starts, and where it ends. */
function* sectionsOf(module: Uint8Array) {
  for (let start = HEADER_BYTES; start < module.length; ) {
    const [size, body] = readUnsigned(module, start + 1);
    const end = body + size;
    yield { id: module[start], start, body, end };
    start = end;
  }
}

function limitedSection(module: Uint8Array, start: number, bytesMax: number): Uint8Array {
  const [count, flagsAt] = readUnsigned(module, start);
  if (count === 0) return Uint8Array.from([MEMORY_SECTION, 1, 0]);
  if (count !== 1) throw new UnlimitedMemory("a module has several memories; build it with one");
  const flags = module[flagsAt] ?? 0;
  if (!PLAIN_FLAGS.includes(flags)) throw new UnlimitedMemory("a memory is shared or of 64 bits; build it without");
  const [least, afterLeast] = readUnsigned(module, flagsAt + 1);
  const declared = flags === 1 ? readUnsigned(module, afterLeast)[0] : Number.POSITIVE_INFINITY;
  const most = Math.min(declared, Math.floor(bytesMax / PAGE_BYTES));
  if (least > most)
    throw new UnlimitedMemory(`it starts with ${least * PAGE_BYTES} bytes of memory; raise \`memory_bytes\``);
  const body = [1, 1, ...writeUnsigned(least), ...writeUnsigned(most)];
  return Uint8Array.from([MEMORY_SECTION, ...writeUnsigned(body.length), ...body]);
}

/** A number in LEB128, and where what follows begins. */
function readUnsigned(bytes: Uint8Array, start: number): readonly [number, number] {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return [value, start + index + 1];
  }
  throw new UnlimitedMemory("a module is cut off or damaged; build it again");
}

function writeUnsigned(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...writeUnsigned(Math.floor(value / 128))];
}
