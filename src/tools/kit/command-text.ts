/** Writes the data of a command's run as a model reads it: what came of it, then what it printed. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";

/**
 * The texts of a run: facts first, so that nothing that the command prints can stand in their place, then standard
 * output, then standard error. What is empty is left out.
 * @param more what the tool knows besides, in words
 */
export function commandTexts(data: JsonObject, more: readonly string[] = []): readonly string[] {
  const facts = [...more, endOf(data), ...effectsOf(data), ...leftOutOf(data)];
  const { stdout, stderr } = data;
  return [facts.join("\n"), ...(isText(stdout) ? [stdout] : []), ...(isText(stderr) ? [`stderr:\n${stderr}`] : [])];
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}

function endOf({ exit_code: exitCode, signal, ended_by: endedBy }: JsonObject): string {
  if (typeof endedBy === "string") return `ended by the kernel: ${endedBy}`;
  if (exitCode !== undefined) return `exit code ${String(exitCode)}`;
  return `ended by ${typeof signal === "string" ? signal : "a signal"}`;
}

/** What the command changed, and what of it was not kept. */
function effectsOf(data: JsonObject): readonly string[] {
  const { files, not_kept: notKept, not_kept_count: count, hidden_repositories: repositories, network } = data;
  return [
    ...(isJsonObject(files) ? [`files: ${counted(files)}`] : []),
    ...(Array.isArray(notKept) ? [notKeptText(notKept, count)] : []),
    ...(Array.isArray(repositories)
      ? [`hidden: the .git of ${repositories.join(", ")}, whose history holds secret files; use the git tools`]
      : []),
    ...(isJsonObject(network) ? [networkText(network)] : []),
  ];
}

function notKeptText(notKept: readonly JsonValue[], count: JsonValue | undefined): string {
  const named = notKept.map((each) =>
    isJsonObject(each) ? `${String(each["path"])} (${String(each["reason"])})` : "",
  );
  const more = typeof count === "number" ? ` and ${count - named.length} more` : "";
  return `not kept: ${named.join(", ")}${more}`;
}

function networkText({ problems, ...counts }: JsonObject): string {
  const named = Array.isArray(problems)
    ? problems.map((each) =>
        isJsonObject(each) ? `; ${String(each["host"])}:${String(each["port"])} ${String(each["reason"])}` : "",
      )
    : [];
  return `network: ${counted(counts)}${named.join("")}`;
}

/** What of the output is not shown. */
function leftOutOf({ omitted, omitted_bytes: bytes }: JsonObject): readonly string[] {
  if (isJsonObject(omitted)) return [`left out: ${counted(omitted)}`];
  return typeof bytes === "number" ? [`left out: ${bytes} bytes`] : [];
}

/** `created 1, changed 2`, without what is none. */
function counted(counts: JsonObject): string {
  return Object.entries(counts)
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${name} ${String(count)}`)
    .join(", ");
}
