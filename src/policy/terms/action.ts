/**
 * Actions: what policy can be asked about. One action per tool (or per operation of a tool), each in the group of its
 * effect class, and in the group `foreign` when its code is not the kernel's own.
 *
 * The canonical actions are part of the vocabulary even where their tool is not registered, so that a policy which
 * names `git_push` is valid everywhere; a request for an action that is not registered is refused all the same.
 */
import { EFFECT_CLASSES, type EffectClass } from "../../model/outcome/effect.ts";
import { SYSTEM_TOOLS } from "../../model/work/system.ts";
import type { ResourceKind } from "./request.ts";
import type { AttributeTable } from "./vocabulary.ts";

/** An action as the registry declares it. */
export interface ActionDeclaration {
  readonly name: string;
  readonly effect: EffectClass;
  /** Kinds of resource that its accesses can name; the tool itself is always one of them. */
  readonly resources: readonly ResourceKind[];
  /** The tool is a plugin's, a component's or an upstream server's. */
  readonly foreign?: boolean;
  /** Arguments that policies may read as `context.arguments.<name>`; all are optional there. */
  readonly arguments?: AttributeTable;
}

/** Group of all actions whose code is not the kernel's own. */
export const FOREIGN_GROUP = "foreign";
/** Every action group. */
export const ACTION_GROUPS: readonly string[] = [...EFFECT_CLASSES, FOREIGN_GROUP];

/** Groups that `action` belongs to. */
export function groupsOf(action: ActionDeclaration): readonly string[] {
  return action.foreign === true ? [action.effect, FOREIGN_GROUP] : [action.effect];
}

const CANONICAL: Readonly<Record<EffectClass, readonly string[]>> = {
  read: [
    ..."read_file search_file count_matches list_files artifact_fetch list_branches branch_diff".split(" "),
    ..."search_knowledge find_usage diagnostics get_related_tests get_system_map get_task_context".split(" "),
    ..."git_status git_diff git:status git:diff git:log git:show".split(" "),
  ],
  write: [
    ..."write_file edit_file rename_symbol delete_file put_content artifact_publish merge_branch".split(" "),
    ..."git_add git_commit git_checkout git:add git:commit git:checkout git:branch git:merge".split(" "),
    ..."git:rebase git:reset git:stash git:tag git:remote".split(" "),
  ],
  exec: ["shell", "run_test", "run_lint", "install_dependencies"],
  network: ["web_fetch", "inference", "git_push", "git:push", "git:fetch", "git:pull", "git:clone"],
  system: SYSTEM_TOOLS,
  control: ["done", "create_task", "create_branch", "drop_branch"],
};

// Kinds that the accesses of a canonical tool can name: fewer kinds make validation faster.
const KINDS: Readonly<Record<EffectClass, readonly ResourceKind[]>> = {
  read: ["file", "artifact", "git_ref"],
  write: ["file", "artifact", "git_ref"],
  exec: ["file", "command", "host", "package"],
  network: ["file", "host", "model", "git_ref", "artifact"],
  system: ["file", "command", "package"],
  control: ["file"],
};

/** What lands of a command's changes is judged as this action of the kernel's own, file by file. */
export const COMMIT_ACTION: ActionDeclaration = {
  name: "commit",
  effect: "write",
  resources: ["file"],
  arguments: { kind: "String", directory: "Boolean", bytes: "Long", executable: "Boolean", outside: "Boolean" },
};

/** `registered`, and every canonical action that is not registered. */
export function withCanonicalActions(registered: readonly ActionDeclaration[]): readonly ActionDeclaration[] {
  const known = new Set(registered.map((action) => action.name));
  const missing = EFFECT_CLASSES.flatMap((effect) =>
    CANONICAL[effect].filter((name) => !known.has(name)).map((name) => ({ name, effect, resources: KINDS[effect] })),
  );
  return [...registered, ...missing];
}
