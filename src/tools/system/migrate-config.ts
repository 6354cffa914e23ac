/**
 * `migrate_config`: leads a listed configuration file from version to version, with a copy of what it was beside it.
 *
 * INVARIANTS: only files that the operator lists, and no link in their place; the copy is whole and on disk before the
 * file changes; the file changes in one step, and only from the very content that was copied; a dry run changes
 * nothing.
 */
import { z } from "zod";
import { MIB } from "../../base/bytes.ts";
import { inSlices } from "../../base/long-steps.ts";
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { Access } from "../../model/place/access.ts";
import type { FileAccess } from "../../model/place/files.ts";
import type { FilePreview, Tool } from "../../model/tool/tool.ts";
import type { ListedConfig, SystemSettings } from "../../model/work/system.ts";
import { lineChanges } from "../../text/line-changes.ts";
import { unifiedDiff } from "../../text/unified-diff.ts";
import { IN_KERNEL } from "../kit/capabilities.ts";
import { flag, integer, objectOf, text } from "../kit/result-schema.ts";
import { SYSTEM_CAPABILITY } from "./capability.ts";

/** Bytes of a configuration file that is migrated. */
const CONFIG_MIGRATED_BYTES_MAX = MIB;

/** A version that can stand in the name of a file. */
const VERSION = /^[0-9A-Za-z](?:[0-9A-Za-z._+-]{0,62}[0-9A-Za-z])?$/;

interface Arguments {
  readonly config: string;
  readonly target_version: string;
  readonly dry_run: boolean;
}

/** The tool `migrate_config` for the files that the operator lists; none without any. */
export function migrateConfig({ configFiles }: SystemSettings): Tool<Arguments> | undefined {
  const names = Object.keys(configFiles);
  const only = names[0];
  if (only === undefined) return undefined;
  // the schema admits no other
  const listedOf = ({ config }: Arguments): ListedConfig => configFiles[config] as ListedConfig;
  return {
    name: "migrate_config",
    title: "Migrate a configuration file",
    description:
      "Leads a configuration file to another version of its schema, by the migrations that the operator wrote. What the file was is kept beside it " +
      "(`backup`). `dry_run` shows what would change and changes nothing.",
    parameters: parametersOf(names, only) as unknown as Tool<Arguments>["parameters"],
    outputSchema: objectOf(
      {
        path: text(),
        from_version: text(),
        versions: {
          type: "array",
          items: text(),
          description: "Versions that the file went through; none when it was there.",
        },
        changed: flag(),
        backup: text("The copy of the file as it was."),
        diff: text("Unified diff, for reading."),
        diff_lines_omitted: integer("Lines of the diff that were left out."),
      },
      ["backup"],
    ),
    capability: { ...SYSTEM_CAPABILITY, execution: IN_KERNEL.execution, labels: IN_KERNEL.labels },
    analyse: (args) => accessesOf(listedOf(args), args),
    async preview(args, { read }) {
      const listed = listedOf(args);
      const before = await read(listed.path);
      const { versions, after } = await migratedBytes(listed, before, args.target_version);
      if (versions.length === 0 || args.dry_run) return [];
      return [
        { path: listed.path, before, after },
        { path: backupOf(listed, args), after: before } satisfies FilePreview,
      ];
    },
    async execute(args, { files, hidden }) {
      const listed = listedOf(args);
      const { bytes: before } = await files.read(listed.path, { bytesMax: CONFIG_MIGRATED_BYTES_MAX });
      const { from, versions, after } = await migratedBytes(listed, before, args.target_version);
      const { result: changes } = await inSlices("comparing two versions of a file", lineChanges(before, after));
      const edited = { original: before, changes, updated: after };
      const diff = unifiedDiff(listed.path, edited, { hidden });
      const isChanged = versions.length > 0 && !args.dry_run;
      const backup = backupOf(listed, args);
      if (isChanged) {
        // whether it may be written is said before anything is
        await replace(files, listed.path, { before, after: before });
        await keepBackup(files, backup, before);
        await replace(files, listed.path, { before, after });
      }
      const shown = { diff: diff.text, diff_lines_omitted: diff.linesOmitted, ...(isChanged && { backup }) };
      return { kind: "data", data: { path: listed.path, from_version: from, versions, changed: isChanged, ...shown } };
    },
  };
}

function parametersOf(names: readonly string[], only: string) {
  const config = z.enum(names, {
    error: `must be one of ${names.map((name) => `\`${name}\``).join(", ")}, which the operator lists`,
  });
  const version = z.string().regex(VERSION, "must be a version, such as `3` or `2.1`");
  return z.strictObject({
    config: names.length === 1 ? config.default(only) : config,
    target_version: z.union([version, z.int().transform(String).pipe(version)]),
    dry_run: z.boolean().default(false),
  });
}

/** What the file was before it had that version. */
function backupOf({ path }: ListedConfig, { target_version: target }: Arguments): string {
  return `${path}.before-${target}.bak`;
}

function accessesOf(listed: ListedConfig, args: Arguments): readonly Access[] {
  const on = (path: string, effect: "read" | "write"): Access => ({ resource: { kind: "file", path }, effect });
  if (args.dry_run) return [on(listed.path, "read")];
  const backup = backupOf(listed, args);
  return [on(listed.path, "read"), on(listed.path, "write"), on(backup, "read"), on(backup, "write")];
}

/** What parses YAML is loaded with the first migration. */
async function migratedBytes(listed: ListedConfig, before: Uint8Array, target: string) {
  const { migrated } = await import("./migration.ts");
  const { from, versions, text } = migrated(listed, textOf(listed.path, before), target);
  return { from, versions, after: versions.length === 0 ? before : new Uint8Array(Buffer.from(text)) };
}

function textOf(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const hint = "ask a person to look at the file";
    throw new ToolFailure("INVALID_UTF8", `\`${path}\` is not UTF-8, so it was not migrated`, {
      suggestion: hint,
      cause: error,
    });
  }
}

/** A copy with the same content was made by a call that came no further, and serves as well. */
async function keepBackup(files: FileAccess, path: string, content: Uint8Array): Promise<void> {
  try {
    await files.write(path, content, { mode: "create_only" });
  } catch (error) {
    if (!(error instanceof ToolFailure) || error.code !== "FILE_EXISTS") throw error;
    const { bytes } = await files.read(path, { bytesMax: CONFIG_MIGRATED_BYTES_MAX });
    if (Buffer.compare(bytes, content) === 0) return;
    throw new ToolFailure(
      "FILE_EXISTS",
      `\`${path}\` holds another copy already, so nothing was migrated`,
      "ask a person to look at it and to move it away",
    );
  }
}

async function replace(
  files: FileAccess,
  path: string,
  { before, after }: { readonly before: Uint8Array; readonly after: Uint8Array },
): Promise<void> {
  await files.transform(path, CONFIG_MIGRATED_BYTES_MAX, (now) => {
    if (Buffer.compare(now, before) === 0) return after;
    throw new ToolFailure(
      "FILE_CHANGED",
      `\`${path}\` was changed by somebody else meanwhile, so it was not migrated`,
      "look at the file with `dry_run` and try again",
    );
  });
}
