/** Asks the client of a call that can be a task, which waits for input until `tasks/update` brings the answer. */
import type { JsonObject } from "../../../base/json.ts";
import type { InBandAsker } from "../../../kernel/index.ts";
import { formAsker } from "../approval/form-asker.ts";
import type { TaskCall } from "./call-tasks.ts";
import { clientNameOf } from "./task-requests.ts";

/** How a client is asked for approval of such a call. */
export function taskAsker(task: TaskCall): (client: string) => InBandAsker {
  return (client) =>
    formAsker(client, (form, signal) =>
      task.ask({ method: "elicitation/create", params: { mode: "form", ...form }, client }, signal),
    );
}

/** How a tool that may asks the client, whose `_meta` this is. */
export function askInTask(
  task: TaskCall,
  meta: JsonObject,
): (method: string, params: JsonObject) => Promise<JsonObject> {
  return async (method, params) => {
    const end = await task.ask({ method, params, client: clientNameOf(meta) }, task.end.signal);
    if (end.kind === "answered") return end.result as JsonObject;
    throw new Error("the client did not answer");
  };
}
