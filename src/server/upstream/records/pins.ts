/**
 * Defines what the operator keeps of an upstream server.
 *
 * That is how it is started, and each tool as a person approved it.
 *
 * INVARIANT: a tool is the approved one only while its name, texts and schemas have the pinned hash.
 */
import * as z from "zod";
import { assert } from "../../../base/errors.ts";
import { blake3Hex } from "../../../base/hash.ts";
import { canonicalJson, type JsonObject } from "../../../base/json.ts";
import { EFFECT_CLASSES } from "../../../model/outcome/effect.ts";
import { SECRET_NAME } from "../../../model/reach/secrets.ts";
import { lineChanges } from "../../../text/line-changes.ts";
import { unifiedDiff } from "../../../text/unified-diff.ts";
import { findHiddenInstructions, type HiddenInstruction } from "./hidden-instructions.ts";

/** Names of servers: without what tells the parts of a tool's name apart, also once a client has changed it. */
export const UPSTREAM_NAME = /^[a-z][a-z0-9]{0,31}$/;
/** Names of a server's tools. */
const UPSTREAM_TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Tools of one server, and characters of one. */
export const UPSTREAM_TOOLS_MAX = 512;
const TOOL_CHARACTERS_MAX = 65_536;
const DESCRIPTION_CHARACTERS_MAX = 8192;

/** Secrets, servers and directories that one server is given, of each kind. */
const GIVEN_MAX = 32;

/** What a server may be granted to ask of its client: where it works, and questions to the person there. */
export const UPSTREAM_GRANTS = ["roots", "elicitation"] as const;
/** One of them. */
export type UpstreamGrant = (typeof UPSTREAM_GRANTS)[number];

const secretName = z.string().regex(SECRET_NAME);
const variable = z.string().regex(/^(?!LD_)[A-Za-z_][A-Za-z0-9_]*$/);
const directories = z.array(z.string().startsWith("/")).max(GIVEN_MAX);

const json = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

const offered = z.strictObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: json,
  outputSchema: json.optional(),
});

/** A tool as its server offers it. */
export type OfferedTool = z.infer<typeof offered>;

/** The file of one server. */
export const upstreamFile = z.strictObject({
  version: z.literal(1),
  /** Given when it was added, so that one that is added again under its name is another. */
  id: z.string().optional(),
  /** Empty for one that is reached by its address. */
  command: z.array(z.string().min(1)),
  /** A directory of the machine that it may read; without it, it has one of its own, which it may write. */
  directory: z.string().startsWith("/").optional(),
  /** Further directories of the machine that it may read, and that it may write. */
  read: directories.optional(),
  write: directories.optional(),
  environment: z.record(variable, z.string()),
  /** Variables of its environment that hold secrets, by the names of those; their values stand nowhere here. */
  secrets: z.record(variable, secretName).optional(),
  /** Servers of the internet that it may reach, as `host:port`. */
  hosts: z.array(z.string()).max(GIVEN_MAX).optional(),
  /** Where it is reached, for one that is not started here. */
  url: z.string().optional(),
  /** `host:port` of the address, where that is not of the public internet and the operator says so. */
  private_host: z.string().optional(),
  /** The secret that is its bearer token. */
  bearer: secretName.optional(),
  /** What it may ask of its client. */
  grants: z.array(z.enum(UPSTREAM_GRANTS)).max(UPSTREAM_GRANTS.length).optional(),
  effect: z.enum(EFFECT_CLASSES),
  trust: z.enum(["untrusted", "user"]),
  approved: z.array(z.strictObject({ hash: z.string(), tool: offered })).max(UPSTREAM_TOOLS_MAX),
  approved_at: z.string().optional(),
  approved_by: z.string().optional(),
});

/** What the operator keeps of one server. */
export type UpstreamRecord = z.infer<typeof upstreamFile>;

/** The hash that pins a tool. */
export function hashOf(tool: OfferedTool): string {
  return blake3Hex(canonicalJson(tool as unknown as JsonObject));
}

/** The hash of all that a server offers, by which a person says what was seen. */
export function hashOfAll(tools: readonly OfferedTool[]): string {
  return blake3Hex(canonicalJson(tools.map(hashOf).sort()));
}

/** The tools in the answer of `tools/list`, or what is wrong with them. */
export function readOffered(listed: readonly unknown[]): readonly OfferedTool[] | string {
  if (listed.length > UPSTREAM_TOOLS_MAX) return `it offers more than ${UPSTREAM_TOOLS_MAX} tools`;
  const tools: OfferedTool[] = [];
  const names = new Set<string>();
  for (const one of listed) {
    if (isDeep(one, 0)) return `a tool is described in more than ${DEPTH_MAX} levels`;
    const { name, title, description = "", inputSchema, outputSchema } = (one ?? {}) as Record<string, unknown>;
    const parsed = offered.safeParse(
      JSON.parse(JSON.stringify({ name, title, description, inputSchema, outputSchema })),
    );
    if (!parsed.success) return "it offers a tool that is none";
    const tool = parsed.data;
    if (!UPSTREAM_TOOL_NAME.test(tool.name)) return `a tool's name does not match ${UPSTREAM_TOOL_NAME.source}`;
    if (names.has(tool.name)) return `it offers two tools \`${tool.name}\``;
    if (tool.description.length > DESCRIPTION_CHARACTERS_MAX || canonicalLength(tool) > TOOL_CHARACTERS_MAX)
      return `its tool \`${tool.name}\` is described by too many characters`;
    names.add(tool.name);
    tools.push(tool);
  }
  return tools.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function canonicalLength(tool: OfferedTool): number {
  return canonicalJson(tool as unknown as JsonObject).length;
}

/** What hides in the texts of a tool, those of its schemas among them. */
function suspicionsOf(tool: OfferedTool): readonly string[] {
  return hiddenIn(tool).map(({ message }) => message);
}

/** The first character of its texts that people cannot see: such a tool is never offered. */
export function invisibleIn(tool: OfferedTool): string | undefined {
  return hiddenIn(tool).find(({ kind }) => kind !== "imperative" && kind !== "lookalike")?.message;
}

function hiddenIn(tool: OfferedTool): readonly HiddenInstruction[] {
  return findHiddenInstructions(textsOf(tool as unknown as JsonObject, 0).join("\n"));
}

/** Levels of a tool's description; what reads it calls itself for each. */
const DEPTH_MAX = 64;

function isDeep(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth > DEPTH_MAX || Object.values(value).some((inner) => isDeep(inner, depth + 1));
}

function textsOf(value: unknown, depth: number): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  if (depth > DEPTH_MAX) return ["<hidden>"]; // a file that was changed by hand
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(Array.isArray(value) ? [] : [key]),
    ...textsOf(inner, depth + 1),
  ]);
}

/** How an offered tool stands to what was approved. */
export interface ToolStanding {
  readonly name: string;
  readonly state: "approved" | "new" | "changed" | "gone";
  readonly suspicions: readonly string[];
  /** From what was approved to what is offered; absent where nothing differs. */
  readonly diff?: string;
}

/** Compares what a server offers with what was approved. */
export function standingOf({ approved }: UpstreamRecord, now: readonly OfferedTool[]): readonly ToolStanding[] {
  const before = new Map(approved.map((one) => [one.tool.name, one]));
  const current = now.map((tool): ToolStanding => {
    const known = before.get(tool.name);
    const suspicions = suspicionsOf(tool);
    if (known?.hash === hashOf(tool)) return { name: tool.name, state: "approved", suspicions };
    const state = known === undefined ? "new" : "changed";
    return { name: tool.name, state, suspicions, diff: diffOf(known?.tool, tool) };
  });
  const names = new Set(now.map(({ name }) => name));
  const gone = approved
    .filter(({ tool }) => !names.has(tool.name))
    .map(
      ({ tool }): ToolStanding => ({ name: tool.name, state: "gone", suspicions: [], diff: diffOf(tool, undefined) }),
    );
  return [...current, ...gone];
}

function diffOf(before: OfferedTool | undefined, after: OfferedTool | undefined): string {
  const print = (tool: OfferedTool | undefined) =>
    Buffer.from(tool === undefined ? "" : `${JSON.stringify(tool, null, 2)}\n`);
  const [original, updated] = [print(before), print(after)];
  const comparing = lineChanges(original, updated);
  let step = comparing.next();
  while (step.done !== true) step = comparing.next(); // ends: the comparison is bounded
  const diff = unifiedDiff(after?.name ?? before?.name ?? "", { original, changes: step.value, updated }, WHOLE);
  assert(diff.linesOmitted === 0 && diff.linesCut === 0, "a person sees all of what they approve");
  return diff.text;
}

/** A person who approves sees all of it: a tool has fewer lines, and a line fewer bytes, than this. */
const WHOLE = { limits: { linesMax: 4 * TOOL_CHARACTERS_MAX, lineMax: 8 * TOOL_CHARACTERS_MAX } };
