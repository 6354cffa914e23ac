/** Hides the secrets of a JSON object that came from outside of any call, so that evidence may keep it. */
import type { JsonObject } from "../../base/json.ts";
import type { Redactor } from "../../redact/redact.ts";
import { recordedArguments } from "./recorded-arguments.ts";
import { CallRedaction } from "./redaction.ts";

/** The object without its secrets, hidden as those of arguments are. */
export function hiddenIn(redactor: Redactor, object: JsonObject): JsonObject {
  const redaction = new CallRedaction(redactor).knowing(object);
  return redaction.facts(recordedArguments(redaction, object));
}
