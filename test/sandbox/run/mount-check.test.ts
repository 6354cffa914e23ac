// Whether the mounts of a run are the planned ones: the truth, and every kind of lie about it.
import { expect, test } from "vitest";
import type { SandboxMount } from "../../../src/sandbox/plan/plan.ts";
import { mountProblem } from "../../../src/sandbox/run/mount-check.ts";

const MOUNTS: readonly SandboxMount[] = [
  { kind: "read_only", source: "/usr", target: "/usr" },
  { kind: "writable", source: "/home/me/project", target: "/workspace" },
  { kind: "read_only", source: "/home/me/project/.git", target: "/workspace/.git" },
  { kind: "hide_directory", target: "/workspace/secrets" },
  { kind: "hide_file", target: "/workspace/.env" },
  { kind: "read_only", source: "/home/me/project/a b", target: "/workspace/a b" },
];

const TRUTH = String.raw`21 20 0:30 / / ro,nosuid - tmpfs tmpfs rw
22 21 254:0 /usr /usr ro,nosuid,nodev - ext4 /dev/vda rw
23 21 254:3 /me/project /workspace rw,nosuid,nodev - ext4 /dev/vdb rw
24 23 254:3 /me/project/.git /workspace/.git ro,nosuid,nodev - ext4 /dev/vdb rw
25 23 0:40 / /workspace/secrets ro,nosuid,nodev - tmpfs tmpfs rw
26 23 0:5 /null /workspace/.env ro,nosuid - devtmpfs devtmpfs rw
27 23 254:3 /me/project/a\040b /workspace/a\040b ro - ext4 /dev/vdb rw
`;

function problemOf(from: string | RegExp, to: string): string | undefined {
  const text = TRUTH.replace(from, to);
  expect(text).not.toBe(TRUTH);
  return mountProblem({ mounts: MOUNTS }, text);
}

test("the planned mounts are no problem, nor what else the machine mounts outside of the workspace", () => {
  expect(mountProblem({ mounts: MOUNTS }, TRUTH)).toBeUndefined();
  expect(mountProblem({ mounts: MOUNTS }, `${TRUTH}28 21 0:50 / /tmp rw - tmpfs tmpfs rw\n`)).toBeUndefined();
});

test.each([
  ["the workspace is missing", /^23.*\n/m, "", "the workspace is not mounted"],
  ["a part is missing", /^24.*\n/m, "", "`/workspace/.git` is not mounted"],
  [
    "a part comes from elsewhere in the same file system",
    "/me/project/.git",
    "/me/other",
    "`/workspace/.git` is not what lies there in the workspace",
  ],
  [
    "a part comes from a place that only begins alike",
    "/me/project/.git",
    "/me/project/.github",
    "`/workspace/.git` is not what lies there in the workspace",
  ],
  [
    "a part comes from another file system",
    "254:3 /me/project/.git",
    "254:0 /me/project/.git",
    "`/workspace/.git` is not what lies there in the workspace",
  ],
  [
    "what hides a directory is not empty",
    "0:40 / /workspace/secrets ro,nosuid,nodev - tmpfs tmpfs",
    "254:3 /me/project/secrets /workspace/secrets ro - ext4 /dev/vdb",
    "`/workspace/secrets` is not hidden",
  ],
  ["what hides a file is a file", "0:5 /null", "254:3 /me/project/.env", "`/workspace/.env` is not hidden"],
  ["what hides a file went elsewhere", "/workspace/.env", "/workspace/env", "`/workspace/env` was not planned"],
  [
    "something else lies in the workspace",
    "\n27",
    "\n30 23 254:0 /etc /workspace/etc ro - ext4 /dev/vda rw\n27",
    "`/workspace/etc` was not planned",
  ],
  [
    "a name with a blank comes from elsewhere",
    "/me/project/a\\040b /",
    "/me/project/a /",
    "`/workspace/a b` is not what lies there in the workspace",
  ],
] as const)("%s", (_, from, to, problem) => {
  expect(problemOf(from, to)).toBe(problem);
});

test("of mounts upon each other the last one counts", () => {
  const over = "31 24 254:0 /root /workspace/.git rw - ext4 /dev/vda rw\n";
  expect(mountProblem({ mounts: MOUNTS }, TRUTH + over)).toBe(
    "`/workspace/.git` is not what lies there in the workspace",
  );
});

test("a workspace that is the root of its file system, and a text that says nothing", () => {
  const mounts: readonly SandboxMount[] = [
    { kind: "writable", source: "/w", target: "/workspace" },
    { kind: "read_only", source: "/w/x", target: "/workspace/x" },
  ];
  const text = "1 0 8:1 / /workspace rw - ext4 /dev/a rw\n2 1 8:1 /x /workspace/x ro - ext4 /dev/a rw\n";
  expect(mountProblem({ mounts }, text)).toBeUndefined();
  expect(mountProblem({ mounts }, "")).toBe("the workspace is not mounted");
});

const VIEW: readonly SandboxMount[] = [
  { kind: "read_only", source: "/home/me/project", target: "/run/workspace" },
  { kind: "hide_directory", target: "/run/workspace" },
  { kind: "empty_directory", target: "/workspace" },
  { kind: "writable", source: "/home/me/project/node_modules", target: "/workspace/node_modules" },
  { kind: "writable", source: "/home/me/project/target/registry", target: "/tmp/registry", part: "target/registry" },
];

const TRUE_VIEW = `41 40 254:3 /me/project /run/workspace ro - ext4 /dev/vdb rw
42 41 0:50 / /run/workspace ro - tmpfs tmpfs rw
43 40 0:51 / /workspace rw - tmpfs tmpfs rw
44 43 254:3 /me/project/node_modules /workspace/node_modules rw - ext4 /dev/vdb rw
45 40 254:3 /me/project/target/registry /tmp/registry rw - ext4 /dev/vdb rw
`;

test("a view is compared with the workspace that lies covered beside it", () => {
  expect(mountProblem({ mounts: VIEW }, TRUE_VIEW)).toBeUndefined();
});

test.each([
  ["nothing covers the workspace", /^42.*\n/m, "", "`/run/workspace` is not hidden"],
  ["the workspace is not there", /^4[12].*\n/gm, "", "the workspace is not mounted"],
  [
    "the workspace lies in the view's place",
    "0:51 / /workspace rw - tmpfs",
    "254:3 /me/project /workspace rw - ext4",
    "`/workspace` is not hidden",
  ],
  [
    "a directory is a link elsewhere",
    "/me/project/node_modules /",
    "/me/project/src /",
    "`/workspace/node_modules` is not what lies there in the workspace",
  ],
  [
    "a directory comes from the machine",
    "254:3 /me/project/node_modules",
    "254:0 /etc",
    "`/workspace/node_modules` is not what lies there in the workspace",
  ],
  [
    "a directory under another name is one",
    "/me/project/target/registry",
    "/me/project/src",
    "`/tmp/registry` is not `target/registry` of the workspace",
  ],
  [
    "a directory under another name is not there",
    /^45.*\n/m,
    "",
    "`/tmp/registry` is not `target/registry` of the workspace",
  ],
] as const)("in a view, %s", (_, from, to, problem) => {
  const text = TRUE_VIEW.replace(from, to);
  expect(text).not.toBe(TRUE_VIEW);
  expect(mountProblem({ mounts: VIEW }, text)).toBe(problem);
});

const BESIDE: readonly SandboxMount[] = [
  ...MOUNTS,
  { kind: "read_only", source: "/data/docs", target: "/mnt/docs" },
  { kind: "hide_file", target: "/mnt/docs/.env" },
];
const TRUE_BESIDE = `${TRUTH}30 21 254:7 /docs /mnt/docs ro,nosuid - ext4 /dev/vdc rw
31 30 0:5 /null /mnt/docs/.env ro,nosuid - devtmpfs devtmpfs rw
`;

test.each([
  ["it is as planned", /^$/, "", undefined],
  ["it is not mounted", /^30.*\n/m, "", "`/mnt/docs` is not mounted"],
  [
    "a secret of it is shown",
    "0:5 /null /mnt/docs/.env",
    "254:7 /docs/.env /mnt/docs/.env",
    "`/mnt/docs/.env` is not hidden",
  ],
  ["what hides a secret is missing", /^31.*\n/m, "", "`/mnt/docs/.env` is not mounted"],
  [
    "something else lies in it",
    /$/,
    "32 30 254:7 /keys /mnt/docs/keys ro - ext4 /dev/vdc rw\n",
    "`/mnt/docs/keys` was not planned",
  ],
])("a directory beside the workspace: %s", (_, from, to, problem) => {
  const plan = { mounts: BESIDE, beside: ["/mnt/docs"] };
  expect(mountProblem(plan, TRUE_BESIDE.replace(from, to))).toBe(problem);
});
