/**
 * Redaction: secrets in what leaves the kernel are found and replaced by `[REDACTED:<rule>]`.
 *
 * Three ways to know a secret: its value is known; it has the form of one; or its name promises one and its value looks
 * like one. An automaton finds the places to look at, and only those are looked at, so the time is
 * in proportion to the text whatever it holds. Pure: it knows no clock, no file and no network.
 *
 * INVARIANTS: redacting what was redacted changes nothing; a text in pieces gives the same as the whole; a clean text
 * comes back as the very same object.
 */

import { FREE_STANDING } from "./kinds/free-standing.ts";
import type { KnownSecret } from "./kinds/known-secret.ts";
import type { ValueJudge } from "./kinds/named-rule.ts";
import { type LoginSecret, loginSecrets, shownPath } from "./logins.ts";
import { applyMarkers, type Finding } from "./search/finding.ts";
import { notRandom, RedactionTables, type RedactorOptions } from "./tables.ts";
import { ByteRedactionStream, type StreamWindow, TextRedactionStream } from "./text-stream.ts";
import { redactWindow, type TextPart, type Window } from "./window.ts";

export type { KnownSecret } from "./kinds/known-secret.ts";
export type { ValueJudge } from "./kinds/named-rule.ts";
export type { Finding, FindingCounts } from "./search/finding.ts";
export type { RedactorOptions } from "./tables.ts";
export type { ByteRedactionStream, StreamWindow } from "./text-stream.ts";
export type { TextPart } from "./window.ts";

/** A text without its secrets, and what was found in it. */
export interface Redaction {
  /** The very same string when nothing was found. */
  readonly text: string;
  readonly findings: readonly Finding[];
}

/** The same for bytes; offsets count bytes. */
export interface ByteRedaction {
  readonly bytes: Uint8Array;
  readonly findings: readonly Finding[];
}

/**
 * Finds and replaces secrets. `extra` are secrets that only this text must not show, such as the caller's own token;
 * `judged` is a secret in the text that `judgeOf` its name has found.
 */
export interface Redactor {
  readonly redact: (text: string, extra?: readonly KnownSecret[], judged?: Finding) => Redaction;
  /** What would be replaced, sorted and without overlaps. */
  readonly find: (text: string, extra?: readonly KnownSecret[]) => readonly Finding[];
  /** The same in steps, for long texts: whoever runs them lets others have their turn between two. */
  readonly findInSteps: (text: string, extra?: readonly KnownSecret[]) => Generator<void, readonly Finding[]>;
  /**
   * Looks through a long text in steps, so that everything else here, given the very same list, answers at once what
   * is in it. What was found is kept as long as that list.
   */
  readonly findAhead: (text: string, extra: readonly KnownSecret[]) => Generator<void, void>;
  /**
   * Any bytes: text in ASCII, UTF-8 or UTF-16, or binary data with such text inside. Bytes that are no secret stay as
   * they are.
   */
  readonly redactBytes: (bytes: Uint8Array, extra?: readonly KnownSecret[]) => ByteRedaction;
  /** A part of `text`, redacted as what it is part of. */
  readonly redactWindow: (text: string, part: TextPart, extra?: readonly KnownSecret[]) => Window;
  /**
   * How the value of a member of that name is judged, as it would be beside its name in text; `undefined` when the name
   * promises nothing.
   */
  readonly judgeOf: (name: string) => ValueJudge | undefined;
  /** How values are judged whose name says that they are an id, a digest or the like: `randomRule` finds nothing. */
  readonly notRandom: ValueJudge;
  /** The rule of random tokens without a name. */
  readonly randomRule: string;
  /** The passwords of the addresses in a text that may be one as a whole, such as an argument. */
  readonly loginSecrets: (text: string) => readonly LoginSecret[];
  /** A path as it is shown: without its secrets, those of addresses too. */
  readonly shownPath: (path: string) => string;
  /** For text that comes in pieces. */
  readonly stream: (extra?: readonly KnownSecret[]) => TextRedactionStream;
  /** For bytes that come in pieces; with a window, only that part of them leaves, redacted as what it is part of. */
  readonly byteStream: (extra?: readonly KnownSecret[], window?: StreamWindow) => ByteRedactionStream;
  /** What a rule finds, in words. */
  readonly titleOf: (rule: string) => string | undefined;
  /**
   * Names the rules, allowances and known values: with another digest, something else may be found. `key`: 32 bytes.
   */
  readonly digest: (key: Uint8Array) => string;
}

/** Makes a redactor. It costs some milliseconds, and nothing is kept of what it redacts. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const tables = new RedactionTables(options);
  const find = (text: string, extra?: readonly KnownSecret[]) => tables.find(text, extra);
  return {
    redact: (text, extra, judged) => {
      const findings = tables.find(text, extra, judged);
      return { text: findings.length === 0 ? text : applyMarkers(text, findings), findings };
    },
    find,
    findInSteps: (text, extra) => tables.findInSteps(text, extra),
    findAhead: (text, extra) => tables.findAhead(text, extra),
    redactBytes: (bytes, extra) => {
      // Each byte becomes one code unit and back, so bytes that are no text survive and offsets are those of bytes.
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
      const findings = tables.find(text, extra);
      return findings.length === 0
        ? { bytes, findings }
        : { bytes: Buffer.from(applyMarkers(text, findings), "latin1"), findings };
    },
    redactWindow: (text, part, extra) => redactWindow(text, part, tables.find(text, extra)),
    judgeOf: (name) => tables.judgeOf(name),
    notRandom,
    randomRule: FREE_STANDING.id,
    loginSecrets,
    shownPath: (path) => shownPath(path, find(path)),
    stream: (extra) => new TextRedactionStream(tables.tablesFor(extra), { free: tables.freeStanding }),
    byteStream: (extra, window) =>
      new ByteRedactionStream(tables.tablesFor(extra), { ...(window && { window }), free: tables.freeStanding }),
    titleOf: (rule) => tables.titleOf(rule),
    digest: (key) => tables.digest(key),
  };
}
