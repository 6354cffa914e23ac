// No opening of a file that an agent controls waits: neither for the other end of a FIFO nor for the holder of a lease.
// Files of a workspace are opened by `sandbox/native/syscalls.ts`, whose openings never wait; every other module that
// opens files is listed here with what it opens.
import { globSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";

/**
 * What opens a file or a directory by its path, and so can wait; the same names without `Sync` are asynchronous and
 * hold a thread of the pool.
 */
const OPENING =
  /^(open|openAsBlob|readFile|writeFile|appendFile|copyFile|cp|truncate|opendir|readdir)(Sync)?$|^create(Read|Write)Stream$|^(promises|glob|globSync|watchFile)$/;

/** Modules that open by path, by the reason why nothing there can make the kernel wait. */
const REVIEWED: Readonly<Record<string, readonly string[]>> = {
  "directories of the workspace alone, by a descriptor that is open already; nobody can have a lease on a directory (the filter of commands refuses `F_SETDELEG`)":
    [
      "src/sandbox/files/places/filled-directories.ts",
      "src/sandbox/files/list.ts",
      "src/sandbox/files/places/size-watch.ts",
      "src/sandbox/views/growth.ts",
      "src/sandbox/git/leftovers.ts",
      "src/sandbox/git/repository-files.ts",
      "src/sandbox/search/tree/walk.ts",
      "src/sandbox/landing/plan.ts",
      "src/sandbox/landing/moves.ts",
      "src/sandbox/undo/undo-plan.ts",
    ],
  "views, which lie in the state directory, once nothing of their commands is left": [
    "src/sandbox/landing/effects.ts",
    "src/sandbox/landing/file-clock.ts",
    "src/sandbox/landing/lock-files.ts",
    "src/sandbox/landing/aside.ts",
    "src/sandbox/landing/journal.ts",
    "src/sandbox/landing/recovery/interrupted.ts",
    "src/sandbox/landing/staging.ts",
    "src/sandbox/files/remove-tree.ts",
    "src/sandbox/landing/standing.ts",
    "src/sandbox/layers/view-directories.ts",
    "src/sandbox/scratch/scratch.ts",
    "src/sandbox/undo/undo.ts",
    "src/sandbox/views/views.ts",
  ],
  "copies in the making, where nobody else comes": ["src/sandbox/copies/copy-workspace.ts"],
  "directories of the workspace alone, by path, links in the last place not followed": [
    "src/sandbox/files/left-files.ts",
    "src/sandbox/host/directory-pieces.ts",
    "src/sandbox/host/workspace-tree.ts",
  ],
  "directories alone, by path: whatever else has come there is refused without a wait (`O_DIRECTORY`)": [
    "src/server/workspace/git-named-files.ts",
    "src/server/workspace/git-repositories.ts",
  ],
  "`O_PATH`, which opens nothing": ["src/sandbox/files/places/roots.ts", "src/sandbox/views/run-mirror.ts"],
  "one helper for everything else below a workspace, and `/proc/self/fd`": ["src/sandbox/native/syscalls.ts"],
  "single files of the workspace, with `O_NONBLOCK`": [
    "src/server/clients/config-file.ts",
    "src/server/workspace/git-config-files.ts",
    "src/server/workspace/workspace-settings.ts",
    "src/server/workspace/env-files.ts",
    "src/sandbox/landing/land-view.ts",
  ],
  "`/proc` and `/sys`, where a process can make nobody wait": [
    "src/sandbox/bwrap/bwrap-backend.ts",
    "src/sandbox/control-groups/control-groups.ts",
    "src/sandbox/control-groups/left-groups.ts",
    "src/sandbox/identity/view-holder.ts",
    "src/sandbox/net/proxy/own-ports.ts",
    "src/sandbox/none/marked-processes.ts",
    "src/sandbox/run/memory-watch.ts",
    "src/sandbox/run/process-tree.ts",
    "src/sandbox/sandbox.ts",
    "src/server/doctor/doctor-commands.ts",
    "src/server/watchdog.ts",
    "src/server/workspace/mounted-places.ts",
  ],
  "directories that the kernel made for itself, and system directories": [
    "src/sandbox/container/container-backend.ts",
    "src/sandbox/container/outermost-directory.ts",
    "src/sandbox/host/system-view.ts",
    "src/sandbox/net/broker/trusted-files.ts",
    "src/server/doctor/doctor.ts",
    "src/server/doctor/doctor-boundary.ts",
  ],
  "programs that only root or the kernel's user can change": ["src/sandbox/host-commands/host-machine.ts"],
  "the state directory, which is closed to everybody else": [
    "src/server/people/approver-credentials.ts",
    "src/server/knowledge/manifest.ts",
    "src/server/ledger/evidence-key.ts",
    "src/server/metrics/state-metrics.ts",
    "src/server/metrics/store-sizes.ts",
    "src/server/policy/validated-policies.ts",
    "src/stores/embedded/ledger/anchor-store.ts",
    "src/stores/embedded/ledger/damage-note.ts",
    "src/stores/embedded/approvals/bell.ts",
    "src/stores/embedded/content/content-files.ts",
    "src/stores/embedded/content/document-keeper.ts",
    "src/stores/embedded/content/history-files.ts",
    "src/stores/embedded/knowledge/index-file.ts",
    "src/stores/embedded/approvals/decision-files.ts",
    "src/stores/embedded/ledger/instance-store.ts",
    "src/stores/embedded/ledger/sound-log.ts",
    "src/stores/embedded/state/log-sync.ts",
    "src/stores/embedded/new-file-store.ts",
    "src/stores/embedded/ledger/spool-store.ts",
    "src/stores/embedded/state/own-file.ts",
    "src/stores/embedded/state/state-directory.ts",
    "src/stores/embedded/state/state-look.ts",
  ],
  "the operator's directory, and files that it names": [
    "src/server/clients/record.ts",
    "src/server/doctor/mistakes.ts",
    "src/server/imports/import.ts",
    "src/server/artifacts/export-artifacts.ts",
    "src/server/artifacts/verify-artifacts.ts",
    "src/server/components/component-file.ts",
    "src/server/components/component-folder.ts",
    "src/server/operator/configuration-state.ts",
    "src/server/operator/operator-directory.ts",
    "src/server/operator/operator-gates.ts",
    "src/server/operator/settings-file.ts",
    "src/server/plugins/load-plugins.ts",
    "src/server/secrets/oauth.ts",
    "src/server/secrets/own-file.ts",
    "src/server/secrets/web-authorities.ts",
    "src/server/telemetry/log-file.ts",
  ],
  "branches, in the state directory, and what they are merged with": [
    "src/sandbox/branches/branch-calls.ts",
    "src/sandbox/branches/branch-work.ts",
    "src/sandbox/branches/branches.ts",
    "src/sandbox/branches/fork-record.ts",
    "src/sandbox/branches/merge-landing.ts",
    "src/sandbox/branches/beneath.ts",
    "src/sandbox/branches/parent-side.ts",
    "src/sandbox/branches/merge-view.ts",
  ],
  "the machine's list of users": ["src/server/workspace/unusual-workspace.ts"],
  "the installation": [
    "src/sandbox/language/server-kinds.ts",
    "src/server/policy/policies.ts",
    "src/server/policy/policy-test.ts",
    "src/server/operator/package-files.ts",
    "src/server/upstream/packages/npm-package.ts",
    "src/server/upstream/records/upstream-files.ts",
  ],
  "a command of a person's, in a process of its own": [
    "src/cli/commands/cas.ts",
    "src/cli/commands/init.ts",
    "src/cli/commands/redact-report.ts",
    "src/cli/commands/start.ts",
    "src/cli/terminal/inputs.ts",
  ],
};

/** Names of what `text` takes from Node's file system that opens by path; `*` where it takes all of it. */
function openings(text: string): readonly string[] {
  const found: string[] = [];
  const isFileSystem = (node: ts.Expression | undefined) =>
    node !== undefined && ts.isStringLiteralLike(node) && /^(node:)?fs(\/promises)?$/.test(node.text);
  const look = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && isFileSystem(node.moduleSpecifier)) {
      const bindings = node.importClause?.namedBindings;
      if (node.importClause?.name !== undefined || (bindings && ts.isNamespaceImport(bindings))) found.push("*");
      if (bindings && ts.isNamedImports(bindings))
        found.push(
          ...bindings.elements
            .map(({ name, propertyName }) => (propertyName ?? name).text)
            .filter((name) => OPENING.test(name)),
        );
    }
    const isRead =
      ts.isCallExpression(node) &&
      (node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === "require");
    if (isRead && isFileSystem(node.arguments[0])) found.push("*");
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest, true));
  return found;
}

test("every module that opens files by path was looked through, and is still one", () => {
  const modules = globSync("src/**/*.ts").filter(
    (path) => !path.endsWith(".test.ts") && openings(readFileSync(path, "utf8")).length > 0,
  );
  expect(modules.sort()).toEqual(Object.values(REVIEWED).flat().sort());
});

test("what opens files is found however it is taken", () => {
  expect(openings('import { openSync as look } from "node:fs";')).toEqual(["openSync"]);
  expect(openings('import { readFile } from "fs/promises";')).toEqual(["readFile"]);
  expect(openings('import * as fs from "node:fs";')).toEqual(["*"]);
  expect(openings('const { openSync } = await import("node:fs");')).toEqual(["*"]);
  expect(openings('import { fstatSync, closeSync } from "node:fs";')).toEqual([]);
});

test("the openings of workspace files say that they do not wait", () => {
  const helper = readFileSync("src/sandbox/native/syscalls.ts", "utf8");
  // what it is, by name below a directory, and again by descriptor
  expect(helper.match(/WITHOUT_WAITING/g)).toHaveLength(3);
  expect(helper).toMatch(/WITHOUT_WAITING = constants\.O_NONBLOCK/);
  expect(readFileSync("src/server/workspace/env-files.ts", "utf8")).toMatch(/READ = [^;]*O_NONBLOCK/);
  for (const name of ["workspace-settings", "git-config-files"])
    expect(readFileSync(`src/server/workspace/${name}.ts`, "utf8")).toMatch(/openSync\(path, [^)]*O_NONBLOCK/);
});

test("system calls that Node does not offer are made by modules that open nothing, and by the one that does not wait", () => {
  const native = globSync("src/**/*.ts").filter((path) => /from "koffi"/.test(readFileSync(path, "utf8")));
  const opening = native.filter((path) => /"[a-z ]*\bopen(at|at2)?\(/.test(readFileSync(path, "utf8")));
  expect(opening).toEqual(["src/sandbox/native/syscalls.ts"]);
});
