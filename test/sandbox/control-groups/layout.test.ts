// Where a process stands in control groups, by the texts of machines of each kind.
import { expect, test } from "vitest";
import { readLayout } from "../../../src/sandbox/control-groups/layout.ts";

const V2 = "31 23 0:28 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate";

test("version 2 alone: one tree", () => {
  expect(readLayout(V2, "0::/user.slice/user-1000.slice/session-2.scope\n")).toEqual({
    version1: {},
    version2: "/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope",
  });
  expect(readLayout(V2, "0::/\n")).toEqual({ version1: {}, version2: "/sys/fs/cgroup" });
});

test("version 1: a tree for each controller, some together", () => {
  const mounts = `32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
36 31 0:33 / /sys/fs/cgroup/devices rw - cgroup cgroup rw,devices`;
  expect(readLayout(mounts, "9:cpu,cpuacct:/a\n8:pids:/\n4:memory:/a/b\n")).toEqual({
    version1: {
      cpu: "/sys/fs/cgroup/cpu,cpuacct/a",
      cpuacct: "/sys/fs/cgroup/cpu,cpuacct/a",
      memory: "/sys/fs/cgroup/memory/a/b",
      pids: "/sys/fs/cgroup/pids",
    },
  });
});

test("both at once: systemd's own tree is none, version 2 stands beside", () => {
  const mounts = `35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw`;
  expect(readLayout(mounts, "9:name=systemd:/\n4:memory:/own\n0::/\n")).toEqual({
    version1: { memory: "/sys/fs/cgroup/memory/own" },
    version2: "/sys/fs/cgroup/unified",
  });
});

test("in a container the mount shows the container's own group as its root", () => {
  const mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory";
  expect(readLayout(mounts, "4:memory:/docker/abc\n")).toEqual({ version1: { memory: "/sys/fs/cgroup/memory" } });
  expect(readLayout(mounts, "4:memory:/docker/abc/inner\n")).toEqual({
    version1: { memory: "/sys/fs/cgroup/memory/inner" },
  });
  // with a namespace of its own, the path starts there
  expect(readLayout(mounts, "4:memory:/\n")).toEqual({ version1: { memory: "/sys/fs/cgroup/memory" } });
});

test("a group outside of what is mounted cannot be reached, nor one that only begins alike", () => {
  const mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory";
  expect(readLayout(mounts, "4:memory:/docker/abcdef\n")).toEqual({ version1: {} });
  expect(readLayout(mounts, "4:memory:/system.slice\n")).toEqual({ version1: {} });
});

test("names with blanks, colons and backslashes, and texts that are no such thing", () => {
  const mounts = String.raw`35 31 0:32 / /sys/fs/my\040groups rw - cgroup cgroup rw,pids`;
  expect(readLayout(mounts, "4:pids:/a:b c\n")).toEqual({ version1: { pids: "/sys/fs/my groups/a:b c" } });
  expect(readLayout("", "")).toEqual({ version1: {} });
  expect(readLayout("garbage\n - \n", "garbage\n::\n")).toEqual({ version1: {} });
  expect(readLayout(V2, "")).toEqual({ version1: {} });
});
