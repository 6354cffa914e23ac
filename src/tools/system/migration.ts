/**
 * Migrates the text of a configuration file from its stated version to another.
 *
 * It goes by the operator's migrations and is pure.
 *
 * INVARIANT: what comes out is read again before it is believed: it is valid, and says that it has the version that was
 * asked for.
 */
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import type { ConfigMigration, ListedConfig, MigrationStep } from "../../model/work/system.ts";
import { type ConfigTree, configTree, plainValue } from "./config-tree.ts";

/** A migrated text. */
export interface Migrated {
  readonly from: string;
  /** Versions that it went through, the last one included; none when it is there already. */
  readonly versions: readonly string[];
  readonly text: string;
}

/**
 * The text of `listed` with the version `target`.
 * @throws ToolFailure NOT_SUPPORTED when the text is not valid, or nothing leads there
 */
export function migrated(listed: ListedConfig, text: string, target: string): Migrated {
  const { path, version } = listed;
  const tree = configTree(path, text);
  const from = versionOf(listed, tree);
  const way = wayTo(listed, from, target);
  if (way.length === 0) return { from, versions: [], text };
  for (const { steps, to } of way) {
    for (const step of steps) apply(path, tree, step);
    tree.set(version, to);
  }
  const result = tree.text();
  const reached = versionOf(listed, configTree(path, result));
  if (reached !== target) throw failed(path, `says that it has the version \`${reached}\` after it was migrated`);
  return { from, versions: way.map(({ to }) => String(to)), text: result };
}

function versionOf({ path, version }: ListedConfig, tree: ConfigTree): string {
  const found = plainValue(tree.get(version));
  if (typeof found === "string" || typeof found === "number") return String(found);
  throw failed(path, `does not say its version at \`${version.join(".")}\``);
}

/** Each version has one way on. */
function wayTo({ path, migrations }: ListedConfig, from: string, target: string): readonly ConfigMigration[] {
  const way: ConfigMigration[] = [];
  let at = from;
  while (at !== target) {
    const next = migrations.find((one) => String(one.from) === at);
    if (next === undefined || way.includes(next))
      throw failed(path, `has the version \`${from}\`, from which nothing leads to \`${target}\``);
    way.push(next);
    at = String(next.to);
  }
  return way;
}

function apply(path: string, tree: ConfigTree, step: MigrationStep): void {
  switch (step.kind) {
    case "rename":
      if (!tree.has(step.from)) return;
      if (tree.has(step.to))
        throw failed(path, `has \`${step.to.join(".")}\` already, which \`${step.from.join(".")}\` is to become`);
      {
        const value = tree.get(step.from);
        tree.remove(step.from);
        tree.set(step.to, value);
      }
      return;
    case "set":
      tree.set(step.member, step.value);
      return;
    case "default":
      if (!tree.has(step.member)) tree.set(step.member, step.value);
      return;
    case "remove":
      tree.remove(step.member);
  }
}

function failed(path: string, what: string): FailureWithoutEffect {
  return new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `\`${path}\` ${what}; nothing was changed`,
    "look at the file with `dry_run`, and ask the operator about the migrations in `system.config_files` of handrail.yaml",
  );
}
