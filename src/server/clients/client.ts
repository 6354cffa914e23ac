/** Defines the clients whose configuration can be set up, and what each of their files is to hold. */
import type { JsonValue } from "../../base/json.ts";

/** One change of a configuration: a value that stands at a path, or members that a list has. */
export type Edit =
  | { readonly at: readonly string[]; readonly value: JsonValue }
  | { readonly at: readonly string[]; readonly members: readonly string[] };

/** A file of a client. `jsonc` is JSON with comments; a `text` file is made whole. */
export type ClientFile = { readonly path: string } & (
  | { readonly format: "jsonc" | "toml"; readonly edits: readonly Edit[] }
  | { readonly format: "text"; readonly text: string }
);

/** Where a client is set up, and what it is to start. */
export interface ClientPlace {
  /** Absolute, real path of the project. */
  readonly workspace: string;
  /** Absolute path of the user's home directory. */
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The words that start this program. */
  readonly launch: readonly [string, ...string[]];
  /** Arguments of `handrail mcp` beside its workspace. */
  readonly options: readonly string[];
  /** Arguments that join a kernel of another user instead: neither workspace nor options are said then. */
  readonly joining?: readonly string[] | undefined;
}

/** A file's member that names servers. */
export interface ServerList {
  readonly path: string;
  readonly at: readonly string[];
}

/** A client. */
export interface Client {
  readonly name: string;
  /** Its name as its makers write it. */
  readonly title: string;
  /** Whether its files are of one project or of the user. */
  readonly scope: "project" | "user";
  readonly files: (place: ClientPlace) => readonly ClientFile[];
  /** Where it names MCP servers that it starts, its set-up file first: those beside this one are not governed. */
  readonly servers: (place: ClientPlace) => readonly ServerList[];
  /** What its agent can still do without Handrail; nothing where its own tools are all off. */
  readonly wayRound?: string;
  /** What a person does next. */
  readonly next: string;
}

/** The name under which a client knows this server. */
export const SERVER_NAME = "handrail";

/** The command of the server in a client's terms: the program, and its arguments. */
export function serverCommand({ launch, options, joining }: ClientPlace, workspace: string) {
  const [command, ...words] = launch;
  return { command, args: [...words, "mcp", ...(joining ?? ["--workspace", workspace, ...options])] };
}
