/**
 * Filters a repository's own settings down to those that git may see.
 *
 * The filter is a closed list of names, each with a closed form of values. What is left is written anew. It trusts
 * nothing that a repository says.
 *
 * INVARIANTS: no setting that names a program, a file, another address or another configuration gets through. An
 * extension that changes how the repository is read and is not known here makes the repository unusable.
 */
import type { GitRemote } from "../../model/work/git.ts";
import type { Setting } from "./config-text.ts";

/** The settings that stay. */
export interface SafeSettings {
  /** As a configuration file. */
  readonly text: string;
  /** Names of those that do not, each once. */
  readonly ignored: readonly string[];
  readonly remotes: Readonly<Record<string, GitRemote>>;
  readonly upstreams: Readonly<Record<string, { readonly remote?: string; readonly branch?: string }>>;
  readonly hasIdentity: boolean;
}

const YES_OR_NO = /^(?:true|false|yes|no|on|off|0|1)$/i;
const PERSON = /^[^\p{Cc}<>]{1,200}$/u;

const PLAIN: Readonly<Record<string, RegExp>> = {
  "core.repositoryformatversion": /^[01]$/,
  "core.filemode": YES_OR_NO,
  "core.ignorecase": YES_OR_NO,
  "core.precomposeunicode": YES_OR_NO,
  "core.symlinks": YES_OR_NO,
  "core.bare": /^(?:false|no|off|0)$/i,
  "core.logallrefupdates": /^(?:true|false|always)$/i,
  "core.autocrlf": /^(?:true|false|input)$/i,
  "core.eol": /^(?:lf|crlf|native)$/i,
  "core.safecrlf": /^(?:true|false|warn)$/i,
  "core.sparsecheckout": YES_OR_NO,
  "core.sparsecheckoutcone": YES_OR_NO,
  "extensions.objectformat": /^(?:sha1|sha256)$/i,
  "user.name": PERSON,
  "user.email": PERSON,
  "merge.conflictstyle": /^(?:merge|diff3|zdiff3)$/i,
  "push.default": /^(?:nothing|current|upstream|simple|matching)$/i,
};

/** A name that may stand in quotes. */
const PART = /^[^\p{Cc}"\\]{1,250}$/u;
/** An address that names neither a user nor anything that a shell or another program reads. */
const ADDRESS = /^[A-Za-z0-9@:/._~+%-]{1,2000}$/;
const FETCHED = /^\+?refs\/heads\/[\w./*-]+:refs\/remotes\/[\w./*-]+$/;
const BRANCH = /^refs\/heads\/([^\p{Cc}~^:?*[\\ ]{1,250})$/u;
/** Extensions that change nothing once they are left out. */
const HARMLESS_EXTENSIONS = new Set(["worktreeconfig", "noop", "preciousobjects"]);

/** What stays of `settings`, or why the repository cannot be used. */
export function safeSettings(settings: readonly Setting[]): SafeSettings | string {
  const lines: string[] = [];
  const ignored = new Set<string>();
  const remotes = new Map<string, { url?: string; pushUrl?: string }>();
  const upstreams = new Map<string, { remote?: string; branch?: string }>();
  let hasName = false;
  let hasEmail = false;
  for (const setting of settings) {
    const { section, subsection, name, value } = setting;
    if (
      section === "extensions" &&
      subsection === undefined &&
      name !== "objectformat" &&
      !HARMLESS_EXTENSIONS.has(name)
    )
      return `it uses the extension \`${name.slice(0, 64)}\`, which is not supported`;
    const kept = keptValue(setting);
    if (kept === undefined) {
      ignored.add([section, ...(subsection === undefined ? [] : [subsection]), name].join("."));
      continue;
    }
    lines.push(
      `[${section}${subsection === undefined ? "" : ` "${subsection}"`}]\n\t${name} = "${kept.replaceAll(/["\\]/g, "\\$&")}"\n`,
    );
    if (section === "user") {
      hasName ||= name === "name";
      hasEmail ||= name === "email";
    }
    if (section === "remote" && subsection !== undefined) noteRemote(remotes, subsection, { name, value: kept });
    if (section === "branch" && subsection !== undefined) {
      const known = upstreams.get(subsection) ?? {};
      upstreams.set(
        subsection,
        name === "remote" ? { ...known, remote: value } : { ...known, branch: BRANCH.exec(value)?.[1] ?? value },
      );
    }
  }
  return {
    text: lines.join(""),
    ignored: [...ignored].sort(),
    remotes: Object.fromEntries(remotes),
    upstreams: Object.fromEntries(upstreams),
    hasIdentity: hasName && hasEmail,
  };
}

function noteRemote(
  remotes: Map<string, { url?: string; pushUrl?: string }>,
  remote: string,
  { name, value }: Pick<Setting, "name" | "value">,
): void {
  const known = remotes.get(remote) ?? {};
  // git fetches from the first address and pushes to each; a second one would be pushed to unseen, and is refused with
  // the first
  if (name === "url") remotes.set(remote, { ...known, url: known.url === undefined ? value : "" });
  else if (name === "pushurl") remotes.set(remote, { ...known, pushUrl: known.pushUrl === undefined ? value : "" });
  else remotes.set(remote, known);
}

/** The value as it stays. */
function keptValue({ section, subsection, name, value }: Setting): string | undefined {
  if (subsection === undefined) return PLAIN[`${section}.${name}`]?.test(value) === true ? value : undefined;
  if (!PART.test(subsection)) return undefined;
  if (section === "remote") {
    if (name === "url" || name === "pushurl") return ADDRESS.test(value) ? withoutUser(value) : undefined;
    if (name === "fetch") return FETCHED.test(value) && !value.includes("..") ? value : undefined;
    return name === "tagopt" && /^--(?:no-)?tags$/.test(value) ? value : undefined;
  }
  if (section !== "branch") return undefined;
  if (name === "remote") return PART.test(value) && !value.startsWith("-") ? value : undefined;
  return name === "merge" && BRANCH.test(value) ? value : undefined;
}

/** What stands before the `@` of a web address may be a password. */
function withoutUser(address: string): string {
  return address.replace(/^(https?:\/\/)[^/]*@/i, "$1");
}
