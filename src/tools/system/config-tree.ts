/**
 * A configuration file as a tree of named members that can be changed: JSON, or YAML with its comments. Pure.
 *
 * INVARIANT: what is not changed means the same afterwards; a file of which that cannot be promised is refused.
 */
import { type Document, isMap, isScalar, parseDocument, type ScalarTag, type Tags, visit } from "yaml";
import { parseJson } from "../../base/json-parse.ts";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import type { ConfigMember, ConfigValue } from "../../model/work/system.ts";

/** The members of a file. A member whose parent is not there is not there. */
export interface ConfigTree {
  readonly has: (member: ConfigMember) => boolean;
  readonly get: (member: ConfigMember) => unknown;
  /** Makes parents that are missing. @throws ToolFailure when a parent is no map of members */
  readonly set: (member: ConfigMember, value: unknown) => void;
  readonly remove: (member: ConfigMember) => void;
  readonly text: () => string;
}

/**
 * The tree of `text`; whether it is JSON is said by its path.
 * @throws ToolFailure NOT_SUPPORTED when the text is not valid, or cannot be changed without changing something else
 */
export function configTree(path: string, text: string): ConfigTree {
  return path.endsWith(".json") ? jsonTree(path, text) : yamlTree(path, text);
}

type Members = Record<string, unknown>;

function jsonTree(path: string, text: string): ConfigTree {
  const parsed = parseJson(text);
  if (!parsed.ok) throw unusable(path, `is not valid JSON (${parsed.problem})`);
  const root: unknown = parsed.value;
  if (!isMembers(root)) throw unusable(path, "does not hold an object");
  if (holdsUnsafe(root)) throw unusable(path, "holds a number that cannot be kept exactly");
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? "";
  const parentOf = (member: ConfigMember): Members | undefined => {
    let at: unknown = root;
    for (const name of member.slice(0, -1)) at = isMembers(at) && Object.hasOwn(at, name) ? at[name] : undefined;
    return isMembers(at) ? at : undefined;
  };
  const last = (member: ConfigMember) => member.at(-1) as string;
  const has = (member: ConfigMember) => Object.hasOwn(parentOf(member) ?? {}, last(member));
  return {
    has,
    get: (member) => (has(member) ? parentOf(member)?.[last(member)] : undefined),
    set(member, value) {
      let at: Members = root;
      for (const name of member.slice(0, -1)) {
        const next: unknown = Object.hasOwn(at, name) ? at[name] : {};
        if (!isMembers(next)) throw noMap(path, member);
        at[name] = next;
        at = next;
      }
      at[last(member)] = value;
    },
    remove(member) {
      const parent = parentOf(member);
      if (parent !== undefined) delete parent[last(member)];
    },
    text: () => JSON.stringify(root, undefined, indent) + (text.endsWith("\n") ? "\n" : ""),
  };
}

function yamlTree(path: string, text: string): ConfigTree {
  const document = parseDocument(text, { customTags: numbersAsWritten });
  const [error] = document.errors;
  if (error !== undefined) throw unusable(path, `is not valid YAML (${error.code.toLowerCase().replaceAll("_", " ")})`);
  if (!isMap(document.contents)) throw unusable(path, "does not hold a map of members");
  requireNoAliases(path, document);
  return {
    has: (member) => document.hasIn(member),
    get: (member) => document.getIn(member, true),
    set(member, value) {
      for (let length = 1; length < member.length; length += 1) {
        const parent = member.slice(0, length);
        if (document.hasIn(parent) && !isMap(document.getIn(parent, true))) throw noMap(path, member);
      }
      document.setIn(member, value);
    },
    remove: (member) => void (document.hasIn(member) && document.deleteIn(member)),
    text: () => document.toString({ lineWidth: 0 }),
  };
}

const NUMBERS = ["tag:yaml.org,2002:int", "tag:yaml.org,2002:float"];

/**
 * Numbers that nothing changes stay as they are written: some have more digits than a number keeps, and `0755` is
 * another one for other readers.
 */
function numbersAsWritten(tags: Tags): Tags {
  const numbers = tags.filter(isNumber);
  const ignore = () => undefined; // it was read without a problem before
  /** What `source` stands for, read as the file was. */
  const readAs = (source: string): unknown => {
    const read = numbers.find(({ test }) => test?.test(source))?.resolve(source, ignore, {});
    return isScalar(read) ? read.value : read;
  };
  return tags.map((tag) => {
    if (!isNumber(tag)) return tag;
    const stringify: ScalarTag["stringify"] = (item, ...rest) => {
      const { source, value } = item;
      return source !== undefined && Object.is(readAs(source), value)
        ? source
        : (tag.stringify?.(item, ...rest) ?? String(value));
    };
    return { ...tag, stringify };
  });
}

function isNumber(tag: Tags[number]): tag is ScalarTag {
  return typeof tag === "object" && tag.collection === undefined && NUMBERS.includes(tag.tag);
}

/** What stands at an anchor stands for its aliases too: a change of one is a change of all. */
function requireNoAliases(path: string, document: Document.Parsed): void {
  let aliases = 0;
  visit(document, {
    Alias() {
      aliases += 1;
      return visit.BREAK;
    },
  });
  if (aliases > 0) throw unusable(path, "uses aliases (`*name`)");
}

/** A plain value of a tree, of YAML's nodes too. */
export function plainValue(value: unknown): ConfigValue | undefined {
  if (typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function")
    return (value.toJSON as () => ConfigValue)();
  return value as ConfigValue | undefined;
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function holdsUnsafe(value: unknown): boolean {
  if (typeof value === "number")
    return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  return typeof value === "object" && value !== null && Object.values(value).some(holdsUnsafe);
}

function noMap(path: string, member: ConfigMember): FailureWithoutEffect {
  return unusable(path, `has something else than members above \`${member.join(".")}\``);
}

function unusable(path: string, what: string): FailureWithoutEffect {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `\`${path}\` ${what}, so it was not migrated`,
    "ask a person to look at the file, or at `system.config_files` in the operator's handrail.yaml",
  );
}
