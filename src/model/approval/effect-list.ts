/**
 * The list of all effects about which one request asks, as lines of JSON, and as people read them. Pure.
 *
 * A request shows a bounded part of what a command has changed; the list holds the rest. Each effect is one record, and
 * the lines of its diff follow in records of their own, so that whoever reads it needs little memory.
 *
 * INVARIANT: a record that is none of those is never shown.
 */
import * as z from "zod";
import { diffLineRows, fact, named, type PromptLine, warning } from "./prompt-lines.ts";

/**
 * What of the content follows: the lines that differ, nothing because it stays or there is none, or why there is
 * nothing to see.
 */
const CONTENTS = ["lines", "same", "none", "no_text", "too_much", "changed_meanwhile"] as const;

const effect = z.object({
  path: z.string(),
  kind: z.enum(["create", "modify", "delete", "mode"]),
  is: z.enum(["file", "link", "directory"]),
  zone: z.string(),
  rules: z.array(z.string()),
  bytes_before: z.number().exactOptional(),
  bytes_after: z.number().exactOptional(),
  rights_before: z.string().exactOptional(),
  rights_after: z.string().exactOptional(),
  content: z.enum(CONTENTS),
});
const lines = z.object({ lines: z.string() });

/** One effect of the list. */
export type ListedEffect = z.infer<typeof effect>;
/** Lines of the diff of the effect before; each begins with a sign. */
export type ListedLines = z.infer<typeof lines>;

/** Characters of one record that are read at most: more than any path and any piece of a diff take. */
const RECORD_BYTES_MAX = 1_048_576;

/** The list cannot be read. */
export class UnreadableList extends Error {}

/** The records of a list that comes in pieces. @throws UnreadableList */
export async function* listRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ListedEffect | ListedLines> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for await (const chunk of chunks) {
    const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n");
    rest += first;
    for (const next of more) {
      yield recordIn(rest);
      rest = next;
    }
    if (rest.length > RECORD_BYTES_MAX) throw new UnreadableList("a record of the list is too long");
  }
  if (rest !== "") throw new UnreadableList("the list ends in the middle of a record");
}

function recordIn(line: string): ListedEffect | ListedLines {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) throw new UnreadableList("a record of the list is no JSON");
    throw error;
  }
  const parsed = z.union([effect, lines]).safeParse(value);
  if (!parsed.success) throw new UnreadableList("a record of the list is none of those that are known");
  return parsed.data;
}

/** A record as lines for a person. */
export function listedLines(record: ListedEffect | ListedLines): readonly PromptLine[] {
  return "lines" in record ? diffLineRows(record.lines.replace(/\n$/, "").split("\n")) : effectLines(record);
}

const KINDS: Readonly<Record<ListedEffect["kind"], string>> = {
  create: "new",
  modify: "changed",
  delete: "deleted",
  mode: "other rights of a",
};

function effectLines(listed: ListedEffect): readonly PromptLine[] {
  const { path, kind, is, zone, rules, content } = listed;
  const sizes = [listed.bytes_before, listed.bytes_after].map((bytes) => (bytes === undefined ? "none" : `${bytes}`));
  const size = is === "directory" ? "" : `, ${sizes.join(" -> ")} bytes`;
  const rights = [listed.rights_before, listed.rights_after].filter((mode) => mode !== undefined);
  const why = UNSEEN[content];
  return [
    fact(`${KINDS[kind]} ${is}${size}, rights ${rights.join(" -> ")}, zone ${zone}, asked by ${rules.join(", ")}`),
    ...named(path),
    ...(content === "same" ? [fact("its content stays as it is")] : []),
    ...(why === undefined ? [] : [warning(why)]),
  ];
}

const UNSEEN: Readonly<Partial<Record<ListedEffect["content"], string>>> = {
  no_text: "its content is not shown: it is no text",
  too_much: "its content is not shown: the list would be too long",
  changed_meanwhile: "its content is not shown: somebody changed the file while it was read",
};
