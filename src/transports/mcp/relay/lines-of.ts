/** Cuts a stream into lines, each of which is bounded before it is kept. */
import type { Readable } from "node:stream";

/** The lines of `input` without their ends. @throws Error for a line that is too long */
export async function* lines(input: Readable, bytesMax: number): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      yield pieces.length === 0 ? rest.subarray(0, end) : Buffer.concat([...pieces, rest.subarray(0, end)]);
      pieces = [];
      size = 0;
      rest = rest.subarray(end + 1);
    }
    size += rest.byteLength;
    if (size > bytesMax) throw new Error(`a line is longer than ${bytesMax} bytes; send less`);
    if (rest.byteLength > 0) pieces.push(rest);
  }
  if (size > 0) yield Buffer.concat(pieces);
}
