/**
 * Determines what a redirection touches, by its operator and its target.
 *
 * INVARIANT: a target that is none of the descriptors, devices and private places named here is a file, and judged as
 * one.
 */
import type { RedirectOperator } from "unbash";
import { MAX_PATH_LEN } from "../../../base/limits.ts";
import { isFixed, type ShellWord } from "../words/words.ts";
import { joined } from "./directories.ts";

/** What a redirection touches. `unknown`: only the run will show. */
export type Touched =
  | { readonly kind: "nothing" }
  | { readonly kind: "unknown" }
  | { readonly kind: "file"; readonly path: string; readonly effects: readonly ("read" | "write")[] }
  | { readonly kind: "host"; readonly host: string; readonly port: number };

/** Devices and descriptors of the command itself, and what lies in its private temporary directory. */
const OWN = /^\/dev\/(?:null|zero|full|u?random|tty|stdin|stdout|stderr|fd\/\d+)$|^\/tmp(?:\/|$)/;
/** What bash takes as a connection. */
const CONNECTION = /^\/dev\/(?:tcp|udp)\/([^/]+)\/([^/]+)$/;
/** A descriptor that is duplicated, moved or closed. */
const DESCRIPTOR = /^(?:\d+-?|-)$/;

/** A word of which nothing is left to expand. */
const PLAIN = /^[\w@%+=:,./-]*$/;

/**
 * Whether bash expands the target once more: a `>&` that is no descriptor is read again as `&>` with what the first
 * time made.
 */
export function isExpandedTwice(operator: RedirectOperator, target: ShellWord): boolean {
  return operator === ">&" && !PLAIN.test(target.text);
}

const NOTHING: Touched = { kind: "nothing" };
const UNKNOWN: Touched = { kind: "unknown" };

/**
 * What `operator` with `target` touches. `directory` is where the command may be; `undefined` when that is not known.
 */
export function touchedBy(
  operator: RedirectOperator,
  target: ShellWord | undefined,
  directory: string | undefined,
): Touched {
  if (!isFixed(target) || target.text === "" || target.text.length > MAX_PATH_LEN) return UNKNOWN;
  const { text } = target;
  if ((operator === ">&" || operator === "<&") && DESCRIPTOR.test(text)) return NOTHING;
  if (operator === "<&") return UNKNOWN;
  const connection = CONNECTION.exec(text);
  if (connection !== null) return connectionTo(connection[1], connection[2]);
  // Kept as it is written, for the guard to refuse: what `..` leads to is for the file system to say.
  const leaves = text.split("/").includes("..");
  if (!leaves && !text.startsWith("/") && directory === undefined) return UNKNOWN;
  const path = leaves ? text : joined(directory ?? ".", text);
  if (!leaves && OWN.test(path)) return NOTHING;
  return {
    kind: "file",
    path,
    effects: operator === "<" ? ["read"] : operator === "<>" ? ["read", "write"] : ["write"],
  };
}

function connectionTo(host: string | undefined, port: string | undefined): Touched {
  const number = Number(port);
  if (host === undefined || !/^\d{1,5}$/.test(port ?? "") || number > 65_535) return UNKNOWN;
  return { kind: "host", host, port: number };
}
