/** An interpreter of classic BPF, which judges calls as the machine's kernel would. */
const ALLOW = "allow";
const KILL = "kill";

/** Runs the program over one call; loops and jumps out of the program are errors. */
export function judgedByProgram(
  program: Uint8Array,
  call: number,
  args: readonly number[],
  architecture: number,
  highHalf = 0,
): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call >>> 0, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, value] of args.entries()) {
    data.writeUInt32LE(value >>> 0, 16 + 8 * index);
    data.writeUInt32LE(highHalf, 20 + 8 * index);
  }
  const code = Buffer.from(program);
  let loaded = 0;
  for (let at = 0; at < code.length / 8; at += 1) {
    const value = code.readUInt32LE(at * 8 + 4);
    const jump = (isTrue: boolean) => {
      at += code[at * 8 + (isTrue ? 2 : 3)] as number;
    };
    switch (code.readUInt16LE(at * 8)) {
      case 0x20:
        loaded = data.readUInt32LE(value);
        break;
      case 0x15:
        jump(loaded === value);
        break;
      case 0x35:
        jump(loaded >= value);
        break;
      case 0x45:
        jump((loaded & value) !== 0);
        break;
      case 0x06:
        return value === 0x7fff0000 ? ALLOW : value === 0x80000000 ? KILL : `errno ${value - 0x00050000}`;
      default:
        throw new Error(`instruction ${at} is unknown`);
    }
  }
  throw new Error("the program ends without an answer");
}
