/**
 * Migrates a configuration file as the tool does, and dies when the new file with the given number is about to be made:
 * with power gone, nothing of it is. Arguments: the root of the workspace, the number.
 */
import { systemClock } from "../../../src/base/clock.ts";
import { systemRandom } from "../../../src/base/ids.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../../src/model/place/zone.ts";
import type { ToolContext } from "../../../src/model/tool/tool.ts";
import { createFileAccess, openWorkspaceRoots } from "../../../src/sandbox/files/files.ts";
import { migrateConfig } from "../../../src/tools/system/migrate-config.ts";
import { memoryLocks, unnotedNames } from "../files-fixture.ts";
import { machineConfigs } from "../machine-place.ts";

const [root = "", number = "1"] = process.argv.slice(2);
const workspace = {
  serviceRoot: root,
  projectRoot: root,
  sharedPaths: [],
  zones: compileZones(BUILT_IN_ZONE_RULES, ""),
};
let made = 0;
const files = createFileAccess({
  workspace,
  roots: openWorkspaceRoots(workspace),
  judge: () => undefined,
  visible: () => true,
  locks: memoryLocks(),
  lockOwner: "child",
  clock: systemClock,
  random: systemRandom,
  newFiles: {
    nameIn(directory) {
      made += 1;
      if (made === Number(number)) process.kill(process.pid, "SIGKILL");
      return unnotedNames.nameIn(directory);
    },
    noteMade: unnotedNames.noteMade,
  },
  signal: new AbortController().signal,
  onLockBroken: () => undefined,
  recheck: async () => undefined,
});
const tool = migrateConfig(machineConfigs());
if (tool === undefined) throw new Error("no file is listed");
await tool.execute({ config: "gateway", target_version: "3", dry_run: false }, {
  files,
  hidden: () => [],
} as unknown as ToolContext);
