/**
 * Keeps what the operator says of upstream servers, one file each in the operator's directory.
 *
 * INVARIANT: a file that others can write, or that is not valid, is used for nothing: the kernel does not start.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { configInvalid } from "../../../base/errors.ts";
import { newId, type RandomBytes } from "../../../base/ids.ts";
import { writeNewFile } from "../../../stores/embedded/state/own-file.ts";
import { requireOwnerOnly } from "../../operator/operator-directory.ts";
import { hashOf, UPSTREAM_NAME, type UpstreamRecord, upstreamFile } from "./pins.ts";

/** Servers of one operator, and bytes of a file. */
const UPSTREAMS_MAX = 64;
const FILE_BYTES_MAX = 64 * 1_048_576;

/** The directory of their files. */
export function upstreamDirectory(operatorPath: string): string {
  return join(operatorPath, "upstream");
}

/** All servers by name. @throws KernelError CONFIG_INVALID naming the file to mend or remove */
export function readUpstreams(operatorPath: string): ReadonlyMap<string, UpstreamRecord> {
  const directory = upstreamDirectory(operatorPath);
  if (!existsSync(directory)) return new Map();
  requireOwnerOnly(directory);
  const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
  if (names.length > UPSTREAMS_MAX) throw configInvalid(`\`${directory}\` holds more than ${UPSTREAMS_MAX} servers`);
  return new Map(names.sort().map((file) => [file.slice(0, -".json".length), readUpstream(join(directory, file))]));
}

function readUpstream(path: string): UpstreamRecord {
  requireOwnerOnly(path);
  const status = statSync(path);
  const name = path.slice(path.lastIndexOf("/") + 1, -".json".length);
  if (!UPSTREAM_NAME.test(name)) throw configInvalid(`\`${path}\` is named as no server; remove it`);
  if (!status.isFile() || status.size > FILE_BYTES_MAX) throw configInvalid(`\`${path}\` is too large; remove it`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw configInvalid(`\`${path}\` is not JSON; remove it and add the server again`, error);
  }
  const parsed = upstreamFile.safeParse(value);
  if (!parsed.success)
    throw configInvalid(`\`${path}\` is not valid (${parsed.error.issues[0]?.path.join(".")}); add the server again`);
  if ((parsed.data.command.length === 0) === (parsed.data.url === undefined))
    throw configInvalid(`\`${path}\` must say either how the server is started or where it is reached; add it again`);
  if (parsed.data.approved.some(({ hash, tool }) => hash !== hashOf(tool)))
    throw configInvalid(`\`${path}\` holds a tool that is not the approved one; approve the server again`);
  return parsed.data;
}

/** Puts a server's file in place as a whole. */
export async function writeUpstream(
  operatorPath: string,
  { name, record }: { readonly name: string; readonly record: UpstreamRecord },
  random: RandomBytes,
): Promise<void> {
  const directory = upstreamDirectory(operatorPath);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = join(directory, `.${newId("ins", random)}`);
  await writeNewFile(temporary, `${JSON.stringify(record, null, 2)}\n`);
  await rename(temporary, join(directory, `${name}.json`));
}

/** Removes a server's file. */
export async function removeUpstream(operatorPath: string, name: string): Promise<void> {
  await rm(join(upstreamDirectory(operatorPath), `${name}.json`), { force: true });
}
