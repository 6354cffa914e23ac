/**
 * Says what a merge brings to each reference of git: commits, and files that differ.
 *
 * Git itself says it, in a sandbox, in the repository of the branch, with nothing of that repository's that names a
 * program. INVARIANT: what is said is bounded, and what could not be looked at is said to be so.
 */
import { KIB } from "../../../base/bytes.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { MovedReference } from "../../../sandbox/branches/moved-references.ts";
import { rootPath } from "../../../sandbox/files/places/roots.ts";
import { gitEnvironment } from "../../../sandbox/git/environment.ts";
import { settingsOf } from "../../../sandbox/git/repository.ts";
import { filesOfRepository } from "../../../sandbox/git/repository-files.ts";
import { insideWorkspace, type ScopeJudge } from "../../../sandbox/sandbox.ts";
import type { KernelSandbox, OpenWorkspace } from "../../call/parts.ts";

/** What one move comes to. */
export interface ReferenceSummary {
  readonly name: string;
  /** Whether all that it named is named yet, in what comes now. */
  readonly isForward: boolean;
  /** Commits that come, and commits that go. */
  readonly added: number;
  readonly lost: number;
  /** The newest of those that come: short id and subject. */
  readonly commits: readonly string[];
  /** How many files differ, and the first of them with how they do (`M src/a.ts`). */
  readonly files: number;
  readonly fileNames: readonly string[];
}

/** Where the branch lies, and who looks. */
export interface SummaryPlace {
  readonly sandbox: KernelSandbox;
  /** The branch, opened. */
  readonly branch: Pick<OpenWorkspace, "roots">;
  /** What it was made from: of a new reference is said what is not in what is checked out there. */
  readonly parent: Pick<OpenWorkspace, "repository">;
  readonly signal: AbortSignal;
}

const REFERENCES_MAX = 8;
const COMMITS_MAX = 20;
const FILES_MAX = 20;
const CHARACTERS_MAX = 120;
const OUTPUT_BYTES_MAX = 256 * KIB;
const TIMEOUT_MS = 20_000;

const OBJECT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const EVERYTHING: ScopeJudge = { entry: () => "read", below: () => "read", isWhole: () => true };

/** Prints numbers, commits and files, each with a null byte behind it. */
const SCRIPT = `git() { command git -c core.commitGraph=false "$@"; }
old=$1 new=$2
git cat-file -e "$new^{commit}"
if [ "$old" = none ]; then
  since=() lost=0 base=$(git hash-object -t tree --stdin </dev/null)
else
  git cat-file -e "$old^{commit}"
  since=("^$old") lost=$(git rev-list --count "$old" "^$new") base=$old
fi
printf '%s\\0%s\\0' "$(git rev-list --count "$new" "\${since[@]}")" "$lost"
git log --max-count=${COMMITS_MAX} -z --format='c%h %<(${CHARACTERS_MAX},trunc)%s' "$new" "\${since[@]}"
git diff-tree -r -z --no-renames --name-status --no-ext-diff --no-textconv "$base" "$new" >"$TMPDIR/changed"
printf 'n%s\\0' "$(tr -dc '\\0' <"$TMPDIR/changed" | wc -c)"
head -z -n ${2 * FILES_MAX} "$TMPDIR/changed"`;

/** Says it of each that moves from one commit to another; of others nothing. */
export async function referenceSummaries(
  place: SummaryPlace,
  moved: readonly MovedReference[],
): Promise<ReadonlyMap<string, ReferenceSummary>> {
  const said = new Map<string, ReferenceSummary>();
  if (!moved.some(isCommits)) return said;
  const there = place.parent.repository?.(".");
  const current = there?.kind === "found" ? there.commit : undefined;
  for (const { name, before, after } of moved.filter(isCommits).slice(0, REFERENCES_MAX)) {
    const printed = await printedBy(place, before ?? current ?? "none", after);
    const summary = printed === undefined ? undefined : summaryOf(name, printed);
    if (summary !== undefined) said.set(name, summary);
  }
  return said;
}

function isCommits(one: MovedReference): one is MovedReference & { readonly after: string } {
  return one.after !== undefined && [one.before ?? one.after, one.after].every((text) => OBJECT.test(text));
}

async function printedBy(
  { sandbox, branch, signal }: SummaryPlace,
  before: string,
  after: string,
): Promise<string | undefined> {
  const settings = settingsOf(filesOfRepository(branch.roots.service, ".git"));
  if (typeof settings === "string") return undefined;
  const [directory, repository] = [insideWorkspace("."), insideWorkspace(".git")];
  const pieces: Uint8Array[] = [];
  try {
    const opened = await sandbox.open();
    const end = await opened.run(
      {
        root: rootPath(branch.roots.service),
        judge: EVERYTHING,
        command: ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", SCRIPT, "moved", before, after],
        workDir: directory,
        environment: gitEnvironment({ directory, repository, readOnly: true }),
        files: [{ target: `${repository}/config`, text: settings.text }],
        limits: { ...sandbox.limits(), outputBytesMax: OUTPUT_BYTES_MAX, timeoutMs: TIMEOUT_MS },
      },
      { stdout: (bytes) => void pieces.push(bytes.slice()), stderr: () => undefined },
      signal,
    );
    return end.exitCode === 0 && end.endedBy === undefined ? Buffer.concat(pieces).toString("utf8") : undefined;
  } catch (error) {
    if (error instanceof ToolFailure) return undefined; // nothing can be looked at here: that is said
    throw error;
  }
}

function summaryOf(name: string, printed: string): ReferenceSummary | undefined {
  const [added, lost, ...rest] = printed.split("\0");
  const counted = rest.findIndex((one) => /^n\d+$/.test(one));
  if (counted < 0) return undefined;
  const commits = rest.slice(0, counted).flatMap((one) => (one.startsWith("c") ? [short(one.slice(1))] : []));
  const names = rest.slice(counted + 1);
  const files = Number((rest[counted] ?? "n0").slice(1)) / 2;
  const fileNames = Array.from({ length: Math.min(files, FILES_MAX) }, (_, at) =>
    short(`${names[2 * at] ?? ""} ${names[2 * at + 1] ?? ""}`),
  );
  return { name, isForward: lost === "0", added: Number(added), lost: Number(lost), commits, files, fileNames };
}

function short(text: string): string {
  const seen = [...text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?").trimEnd()];
  return seen.length > CHARACTERS_MAX ? `${seen.slice(0, CHARACTERS_MAX).join("")}…` : seen.join("");
}

/** The same as lines of text. */
export function summaryLines(summary: ReferenceSummary | undefined): readonly string[] {
  if (summary === undefined) return ["what it brings cannot be shown"];
  const { isForward, added, lost, commits, files, fileNames } = summary;
  const more = (count: number, shown: readonly string[]) =>
    count > shown.length ? [`  and ${count - shown.length} more`] : [];
  return [
    `${added} commit${added === 1 ? "" : "s"} more${isForward ? "" : `, and ${lost} less: it does not go on from what it named`}`,
    ...commits.map((one) => `  ${one}`),
    ...more(added, commits),
    `${files} file${files === 1 ? "" : "s"} differ${files === 1 ? "s" : ""}`,
    ...fileNames.map((one) => `  ${one}`),
    ...more(files, fileNames),
  ];
}
