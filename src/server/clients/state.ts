/** Says how clients that were set up stand. Their files may have changed, and they may start other servers too. */
import { isJsonObject } from "../../base/json.ts";
import { SERVER_NAME } from "./client.ts";
import { readConfigFile } from "./config-file.ts";
import { applied, valueAt } from "./edits.ts";
import { valueIn } from "./formats.ts";
import { CLIENTS } from "./known-clients.ts";
import type { SetUp } from "./record.ts";

/** How a client stands. */
export interface ClientState {
  readonly client: string;
  readonly title: string;
  readonly workspace: string;
  readonly scope: "project" | "user";
  /** What its files do not say any more, as `FILE: KEY`. */
  readonly missing: readonly string[];
  /** Servers that it starts without Handrail. */
  readonly ungoverned: readonly string[];
  /** What its agent can do without Handrail although its files say all. */
  readonly wayRound?: string;
}

/** Looks at the files of one. @throws KernelError where a file cannot be read */
export async function clientState(
  setUp: SetUp,
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
): Promise<ClientState | undefined> {
  const client = CLIENTS.find(({ name }) => name === setUp.client);
  if (client === undefined) return undefined;
  const { workspace, launch, options, joining } = setUp;
  const place = { workspace, launch, options, joining, environment, home };
  const missing: string[] = [];
  for (const file of client.files(place)) {
    const text = readText(file.path);
    if (file.format === "text") {
      if (text !== file.text) missing.push(file.path);
      continue;
    }
    const root = await valueIn(text, file.format);
    for (const edit of file.edits)
      if (applied(root, edit) !== undefined) missing.push(`${file.path}: ${edit.at.join(".")}`);
  }
  const { title, scope, wayRound, servers } = client;
  const ungoverned: string[] = [];
  for (const [index, { path, at }] of servers(place).entries()) {
    const named = valueAt(await valueIn(readText(path), path.endsWith(".toml") ? "toml" : "jsonc"), at);
    const names = isJsonObject(named) ? Object.keys(named) : [];
    // a second server of this name, in a file that was not set up, takes the place of the first
    const others = index === 0 ? names.filter((name) => name !== SERVER_NAME) : names;
    ungoverned.push(...others.map((name) => (index === 0 ? name : `${name} (${path})`)));
  }
  return { client: client.name, title, workspace, scope, missing, ungoverned, ...(wayRound && { wayRound }) };
}

function readText(path: string): string {
  return readConfigFile(path, { isToBeWritten: false }).text ?? "";
}
