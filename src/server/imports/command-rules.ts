/**
 * Writes lists of programs as Cedar policies that forbid everything else.
 *
 * INVARIANT: an entry is carried over only where it is plain words, so that none can be anything but a text in Cedar.
 */
import type { LeftOut } from "./imported.ts";

/** A program, and arguments where an entry names them. */
const PLAIN_ENTRY = /^[A-Za-z0-9_./@:+-]+(?: [A-Za-z0-9_./@:=+-]+)*$/;

/** A list of programs, where it stands, and the mode that it is for; every session's where there is none. */
export interface ProgramList {
  readonly where: string;
  readonly entries: readonly string[];
  readonly mode?: string;
}

/** The policies that a list makes, and the entries that it could not take. */
export interface ListPolicies {
  readonly text: string;
  readonly left: readonly LeftOut[];
}

/** Only the listed programs run. */
export function allowOnly(id: string, list: ProgramList): ListPolicies {
  const { plain, left } = sorted(list);
  const text = `@id("${id}")
@rationale("shell_exec_denied")
@message("the imported configuration lists the programs that may run, and this is none of them")
forbid (principal, action == Handrail::Action::"shell", resource is Handrail::Command)
${whenMode(list.mode)}unless { ${conditionOf(plain)} };
`;
  return { text, left };
}

/** The listed programs do not run. */
export function forbidThese(id: string, list: ProgramList): ListPolicies {
  const { plain, left } = sorted(list);
  if (plain.length === 0) return { text: "", left };
  const mode = list.mode === undefined ? "" : `principal.mode == "${list.mode}" && `;
  const text = `@id("${id}")
@rationale("shell_exec_denied")
@message("the imported configuration blocks this program")
forbid (principal, action == Handrail::Action::"shell", resource is Handrail::Command)
when { ${mode}(${conditionOf(plain)}) };
`;
  return { text, left };
}

function whenMode(mode: string | undefined): string {
  return mode === undefined ? "" : `when { principal.mode == "${mode}" }\n`;
}

function sorted({ where, entries }: ProgramList): {
  readonly plain: readonly string[];
  readonly left: readonly LeftOut[];
} {
  const plain = [...new Set(entries.filter((entry) => PLAIN_ENTRY.test(entry)))].sort();
  const left = entries
    .map((entry, index) => ({ entry, where: `${where}[${index}]` }))
    .filter(({ entry }) => !PLAIN_ENTRY.test(entry))
    .map(({ where: at }) => ({ where: at, why: "is no program with plain arguments; write a policy of your own" }));
  return { plain, left };
}

/** Programs by their names; an entry with arguments by how the command begins. */
function conditionOf(entries: readonly string[]): string {
  const names = entries.filter((entry) => !entry.includes(" "));
  const lines = entries.filter((entry) => entry.includes(" "));
  const conditions = [
    ...(names.length === 0 ? [] : [`[${names.map((name) => `"${name}"`).join(", ")}].contains(resource.binary)`]),
    ...lines.flatMap((line) => [`resource.line == "${line}"`, `resource.line like "${line} *"`]),
  ];
  return conditions.length === 0 ? "false" : conditions.join(" || ");
}
