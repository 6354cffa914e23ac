/**
 * Remembers what a call's judgement asked of a repository, and finds what has become of that since.
 *
 * INVARIANT: whatever was asked is answered the same for the whole call, and is what has to stand when the call changes
 * something: what policy and people saw is what git works on.
 */
import type { FoundRepository, GitRepository } from "../../model/work/git.ts";

/** Names that a message shows. */
const SHOWN_CHARACTERS_MAX = 100;

/** Marks of what is no reference, and what they are marks of. */
const MARKS = { staged: "what is staged", progress: "the merge or rebase under way" } as const;
type Mark = keyof typeof MARKS;

/** The mark of what could not be looked at, which is nothing's. */
const UNSEEN = "";

/** One repository as a call was judged by it. */
export class JudgedRepository {
  /** The look itself; what it says stays. */
  readonly repository: FoundRepository;
  readonly #seen: FoundRepository;
  readonly #names = new Map<string, string | undefined>();
  readonly #marks = new Map<Mark, string>();

  constructor(seen: FoundRepository) {
    this.#seen = seen;
    this.repository = {
      ...seen,
      resolve: (name) => this.#resolve(name),
      staged: () => this.#mark("staged"),
      progress: () => this.#mark("progress"),
    };
  }

  /** The names that were asked about, in a fixed order. */
  get names(): readonly string[] {
    return [...this.#names.keys()].sort();
  }

  /** What has changed of all that was asked, in words; empty where it stands. @param now a new look */
  changes(now: GitRepository): readonly string[] {
    if (now.kind !== "found" || now.root !== this.#seen.root) return ["the repository"];
    const names = this.names.filter((name) => now.resolve(name) !== this.#names.get(name));
    const marks = this.#changedMarks(now);
    return [
      ...(now.head === this.#seen.head ? [] : ["what is checked out"]),
      ...names.map(
        (name) => `what \`${name.replaceAll(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, SHOWN_CHARACTERS_MAX)}\` names`,
      ),
      ...marks.map((mark) => MARKS[mark]),
    ];
  }

  /** The call itself has changed what is staged or under way. @param now a new look, while nobody else can change it */
  renew(now: GitRepository): void {
    for (const mark of this.#marks.keys()) this.#marks.set(mark, now.kind === "found" ? now[mark]() : UNSEEN);
  }

  /** Whether what is staged and under way is what it was. @param now a new look */
  standsMarked(now: GitRepository): boolean {
    return now.kind === "found" && this.#changedMarks(now).length === 0;
  }

  #changedMarks(now: FoundRepository): readonly Mark[] {
    return [...this.#marks].flatMap(([mark, before]) => (now[mark]() === before ? [] : [mark]));
  }

  #resolve(name: string): string | undefined {
    if (!this.#names.has(name)) this.#names.set(name, this.#seen.resolve(name));
    return this.#names.get(name);
  }

  #mark(mark: Mark): string {
    const known = this.#marks.get(mark) ?? this.#seen[mark]();
    this.#marks.set(mark, known);
    return known;
  }
}
