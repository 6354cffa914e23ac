/**
 * Judges `.npmrc` by a list of settings that an installation obeys. Pure.
 *
 * npm never sees the file: the settings of the list are handed to it as the kernel understood them, and anything else
 * refuses the installation instead of being passed over in silence. INVARIANT: a setting that is not in the list has no
 * effect, whatever npm makes of its line.
 */
import { type Grants, refused } from "./installation.ts";
import { addressProblem } from "./sources.ts";

/** The project's configuration of npm. */
export const NPM_CONFIGURATION = ".npmrc";

const SWITCH = /^(?:true|false)$/;
const WORD = /^[A-Za-z0-9^~.-]{0,32}$/;

/** Settings that decide how a lock file is followed, with the values that they may have: npm gets them. */
const OBEYED: Readonly<Record<string, RegExp>> = {
  "engine-strict": SWITCH,
  "ignore-scripts": /^true$/,
  "legacy-peer-deps": SWITCH,
  "strict-peer-deps": SWITCH,
  omit: /^(?:dev|optional|peer)$/,
};
/** Settings that mean nothing to an installation from a lock file. */
const WITHOUT_EFFECT: Readonly<Record<string, RegExp>> = {
  audit: SWITCH,
  "audit-level": WORD,
  "auto-install-peers": SWITCH,
  color: WORD,
  fund: SWITCH,
  loglevel: WORD,
  "package-lock": /^true$/,
  "prefer-offline": SWITCH,
  progress: SWITCH,
  save: SWITCH,
  "save-exact": SWITCH,
  "save-prefix": WORD,
  "tag-version-prefix": WORD,
  "update-notifier": SWITCH,
};
/**
 * A registry, for all packages or for those of a scope; a lock file says where each package comes from, so that it only
 * has to be granted.
 */
const REGISTRY = /^(?:@[a-z0-9._~-]+:)?registry$/;

/**
 * The settings of `text` for npm, as variables of its environment.
 * @throws FailureWithoutEffect that names the setting
 */
export function judgeNpmConfiguration(text: string, grants: Grants): Readonly<Record<string, string>> {
  const environment: Record<string, string> = {};
  for (const [index, line] of text
    .replace(/^\ufeff/, "")
    .split(/\r\n|\r|\n/)
    .entries()) {
    const words = line.trim();
    if (words === "" || words.startsWith("#") || words.startsWith(";")) continue;
    const [name, value] = settingOf(words);
    const values = Object.hasOwn(OBEYED, name)
      ? OBEYED[name]
      : Object.hasOwn(WITHOUT_EFFECT, name)
        ? WITHOUT_EFFECT[name]
        : undefined;
    if (REGISTRY.test(name)) {
      const problem = addressProblem(value, grants);
      if (problem !== undefined) throw notObeyed(index, name, { why: `: it ${problem}` });
    } else if (values === undefined) throw notObeyed(index, name);
    else if (!values.test(value)) throw notObeyed(index, name, { what: "gives an unexpected value to" });
    else if (Object.hasOwn(OBEYED, name)) environment[`npm_config_${name.replaceAll("-", "_")}`] = value;
  }
  return environment;
}

/** A name alone means `true`. */
function settingOf(words: string): readonly [name: string, value: string] {
  const at = words.indexOf("=");
  return at === -1 ? [words, "true"] : [words.slice(0, at).trim(), words.slice(at + 1).trim()];
}

/** Names are shown, values never: they may be credentials. */
function notObeyed(index: number, name: string, { what = "sets", why = "" } = {}) {
  const isName = /^[@\w.:/[\]-]{1,64}$/.test(name);
  return refused(
    NPM_CONFIGURATION,
    `${what} ${isName ? `\`${name}\`` : "something that cannot be read"} in line ${index + 1}, which no installation obeys here${why}`,
    `ask a person to take that line out of \`${NPM_CONFIGURATION}\`, or to run the installation themselves`,
  );
}
