/** A thread that passes changes on to one view: it may wait for its command, and nobody else does. */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../base/errors.ts";
import type { MirrorReply, MirrorRequest } from "./messages.ts";
import { type MirrorPlace, ViewMirror } from "./view-mirror.ts";

const port = parentPort;
assert(port, "changes are passed on by a worker");
const mirror = new ViewMirror(workerData as MirrorPlace);

port.on("message", (request: MirrorRequest) => {
  port.postMessage(answer(request));
});

function answer(request: MirrorRequest): MirrorReply {
  const { id } = request;
  try {
    if (request.kind === "end") return { id, notes: mirror.notes };
    mirror.show(request.path);
    return { id };
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) };
  }
}
