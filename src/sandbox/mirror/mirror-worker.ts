/** The thread that passes changes on: it may wait for a running command, and nobody else waits with it. */
import { parentPort } from "node:worker_threads";
import { assert } from "../../base/errors.ts";
import type { MirrorReply, MirrorRequest } from "./messages.ts";
import { ViewMirror } from "./view-mirror.ts";

const port = parentPort;
assert(port, "changes are passed on by a worker");
const mirrors = new Map<number, ViewMirror>();

port.on("message", (request: MirrorRequest) => {
  if (request.kind === "open") {
    mirrors.set(request.mirror, new ViewMirror(request.place));
    return;
  }
  port.postMessage(answer(request));
});

function answer({ id, ...request }: Exclude<MirrorRequest, { readonly kind: "open" }>): MirrorReply {
  const mirror = mirrors.get(request.mirror);
  if (mirror === undefined) return { id, problem: "what was passed on to a command is not known any more" };
  try {
    if (request.kind === "close") {
      mirrors.delete(request.mirror);
      return { id, notes: mirror.close() };
    }
    mirror.show(request.path);
    return { id };
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) };
  }
}
