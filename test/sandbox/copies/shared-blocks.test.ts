/** Where the file system lets files share their blocks, a copy of a workspace takes no room for their bytes. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { environmentOf } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";
import { MAIN } from "../../support/program.ts";

const IMAGE_BYTES = "400M"; // xfs takes no less than 300 MB; the file has holes
const WORKSPACE_MB = 40;

/** Runs a command in a copy, and makes a branch; says how each was made and how many KB of the disk they took. */
const SCRIPT = String.raw`
  set -e
  mkdir "$BASE/at" && $MOUNT "$BASE/at"
  cd "$BASE/at" && mkdir -m 700 w s c && printf 'sandbox: { views: copy }\n' >c/handrail.yaml && chmod 600 c/handrail.yaml
  head -c ${WORKSPACE_MB}M /dev/urandom >w/data && sync
  room() { df -k --output=avail . | tail -1; }
  handrail() { "$NODE" --disable-warning=ExperimentalWarning "$MAIN" "$@" --workspace w --state s --config c; }
  handrail call shell --json '{"command":"printf x >>data"}' >answer || { cat answer; exit 1; }
  before=$(room)
  handrail branches create one --json >branch
  sync
  echo "branch $(grep -oE '"(clone|copy)"' branch) $(($before - $(room)))"
  "$NODE" --disable-warning=ExperimentalWarning "$MAIN" ledger tail --state s --json | grep -oE '"view":"[a-z]+"'
  echo "content $(tail -c 1 w/data)"
`;

function copiedOn(mount: string): string {
  const place = freshPlace();
  const more = { BASE: place.base, MAIN, NODE: process.execPath, MOUNT: mount };
  const env = environmentOf(place, { ...more, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` });
  if (mount.includes("xfs"))
    execFileSync("sh", ["-c", `truncate -s ${IMAGE_BYTES} xfs.img && mkfs.xfs -q -m reflink=1 xfs.img`], {
      cwd: place.base,
      env,
    });
  const args = ["--mount", "--propagation", "private", "sh", "-c", SCRIPT];
  return execFileSync("unshare", args, { cwd: place.base, env, encoding: "utf8" });
}

const taken = (said: string) => Number(/branch "\w+" (-?\d+)/.exec(said)?.[1]);

test("copies for commands and branches share blocks on xfs; elsewhere, the control, they take their room", () => {
  if (process.geteuid?.() !== 0) return; // nobody else can mount there
  const shared = copiedOn("mount -o loop xfs.img");
  expect(shared).toContain('"view":"reflink"');
  expect(shared).toContain('branch "clone"');
  expect(shared).toContain("content x");
  expect(taken(shared)).toBeLessThan((WORKSPACE_MB * 1024) / 4);
  const whole = copiedOn("mount -t tmpfs none");
  expect(whole).toContain('"view":"copy"');
  expect(whole).toContain('branch "copy"');
  expect(taken(whole)).toBeGreaterThan((WORKSPACE_MB * 1024 * 3) / 4);
});
