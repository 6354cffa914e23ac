/**
 * Checks the configuration files of a workspace against the digests that the operator trusts.
 *
 * Trust is the operator's word that these files, byte for byte as they were, may do what those of an untrusted
 * workspace may not. Pure: text and digests in, answers out.
 *
 * INVARIANT: a workspace is trusted only if every file that is read from it has exactly the digest that was pinned, and
 * every file that was absent, or was not read yet when it was pinned, is absent.
 */
import * as z from "zod";
import { configInvalid } from "../base/errors.ts";
import { blake3Hex } from "../base/hash.ts";
import { MAX_PATH_LEN } from "../base/limits.ts";

/**
 * The configuration files that are read from a workspace, by their paths from its root. A pin names each of them, so
 * that a new one asks for new trust.
 */
export const WORKSPACE_FILES = ["handrail.yaml", ".flow/config.json"] as const;
/** One of them. */
export type WorkspaceFile = (typeof WORKSPACE_FILES)[number];
/** BLAKE3-256 of each file, hexadecimal; `null` where there is none. */
export type FileDigests = Readonly<Record<WorkspaceFile, string | null>>;

const digest = z.union([z.string().regex(/^[0-9a-f]{64}$/), z.null()]);
const pin = z.strictObject({
  version: z.literal(1),
  /** Real path of the workspace. */
  workspace: z.string().startsWith("/").max(MAX_PATH_LEN),
  files: z.record(z.string().min(1).max(256), digest),
  trustedAt: z.iso.datetime(),
  trustedBy: z.string().max(256),
});

/** What the operator trusts: one workspace and the digests of its files. */
export type WorkspacePin = z.infer<typeof pin>;

/** Name of the file that holds the pin of a workspace. */
export function pinFileName(workspace: string): string {
  return `${blake3Hex(workspace)}.json`;
}

/** The text of the file that holds `value`. */
export function printPin(value: WorkspacePin): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * Parses a pin.
 * @param name path of the file, for messages
 * @throws KernelError CONFIG_INVALID when it is none, or lies under another workspace's name
 */
export function parsePin(text: string, name: string): WorkspacePin {
  const refuse = (why: string) => configInvalid(`\`${name}\` ${why}; remove it and run \`handrail trust\` again`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser quotes the text; that it is none is all that needs saying.
    throw refuse("is not valid JSON");
  }
  const parsed = pin.safeParse(value);
  if (!parsed.success) throw refuse("is no record of trust");
  if (!name.endsWith(pinFileName(parsed.data.workspace)))
    throw refuse(`does not belong to the workspace \`${parsed.data.workspace}\``);
  return parsed.data;
}

/** How the files of a workspace stand to what the operator trusts. */
export type TrustState = "trusted" | "changed" | "untrusted";

/** Whether `workspace`, whose files have `digests`, is trusted; `changed` when it was, with other files. */
export function trustStateOf(pins: readonly WorkspacePin[], workspace: string, digests: FileDigests): TrustState {
  const known = pins.find((candidate) => candidate.workspace === workspace);
  if (known === undefined) return "untrusted";
  const names = new Set<string>([...WORKSPACE_FILES, ...Object.keys(known.files)]);
  const now = new Map<string, string | null>(Object.entries(digests));
  for (const name of names) {
    // An earlier version did not read every file that is read today: where there is none, it pinned all there is.
    const pinned = known.files[name] ?? null;
    if (pinned !== now.get(name)) return "changed";
  }
  return "trusted";
}
