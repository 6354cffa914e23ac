// The plan of a run and the arguments that bwrap gets for it.
import { expect, test } from "vitest";
import { bwrapArguments } from "../../../src/sandbox/bwrap/bwrap-arguments.ts";
import { planSandbox, type SandboxRequest } from "../../../src/sandbox/plan/plan.ts";

const REQUEST: SandboxRequest = {
  command: ["true"],
  workDir: "/workspace",
  environment: { CI: "1" },
  system: [{ kind: "read_only", source: "/usr", target: "/usr" }],
  workspace: [
    { kind: "writable", source: "/w", target: "/workspace" },
    { kind: "hide_directory", target: "/workspace/secrets" },
    { kind: "hide_file", target: "/workspace/.env" },
  ],
  limits: {
    timeoutMs: 1000,
    outputBytesMax: 1000,
    processesMax: 10,
    memoryBytesMax: 2 ** 20,
    processors: 1,
    fileBytesMax: 2 ** 20,
    openFilesMax: 64,
    temporaryBytesMax: 2 ** 20,
  },
};

test("the machine comes before the workspace, and what hides after what shows", () => {
  expect(planSandbox(REQUEST, "x64").mounts).toEqual([...REQUEST.system, ...REQUEST.workspace]);
});

test("the environment is the named one and nothing of the kernel's", () => {
  process.env["HANDRAIL_TEST_SECRET"] = "inherited";
  const { environment } = planSandbox(REQUEST, "x64");
  delete process.env["HANDRAIL_TEST_SECRET"];
  expect(environment).toEqual({
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: "/tmp",
    LANG: "C.UTF-8",
    TMPDIR: "/tmp",
    USER: "agent",
    CI: "1",
  });
});

test("with a proxy programs are told of it, without one nothing names any", () => {
  const names = (request: SandboxRequest) =>
    Object.keys(planSandbox(request, "x64").environment).filter((name) => /proxy/i.test(name));
  expect(names(REQUEST)).toEqual([]);
  expect(names({ ...REQUEST, proxySocket: "/run/p.sock" })).toEqual(
    expect.arrayContaining([
      "HTTPS_PROXY",
      "HTTP_PROXY",
      "NODE_USE_ENV_PROXY",
      "http_proxy",
      "https_proxy",
      "npm_config_proxy",
    ]),
  );
});

test.each([
  ["a relative path", "relative"],
  ["a path that leads out", "/workspace/../etc"],
  ["a path with a zero byte", "/work\0space"],
])("a mount at %s is a bug", (_, target) => {
  expect(() => planSandbox({ ...REQUEST, workspace: [{ kind: "hide_file", target }] }, "x64")).toThrow("target");
});

test("an environment for the loader of programs is a bug: it would come before the limits", () => {
  expect(() => planSandbox({ ...REQUEST, environment: { LD_PRELOAD: "/workspace/mine.so" } }, "x64")).toThrow("loader");
  expect(planSandbox({ ...REQUEST, environment: { LDFLAGS: "-s" } }, "x64").environment["LDFLAGS"]).toBe("-s");
});

test("every processor gets its own filter", () => {
  expect(planSandbox(REQUEST, "arm64").seccomp.digest).not.toBe(planSandbox(REQUEST, "x64").seccomp.digest);
});

test("bwrap is told to isolate everything, to show only what is planned, and to keep its order", () => {
  const plan = planSandbox(REQUEST, "x64");
  const { line, options: given } = bwrapArguments(plan);
  const options = Buffer.from(given).toString().split("\0");
  for (const option of [
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
  ]) {
    expect(options).toContain(option);
  }
  expect(options[options.indexOf("--cap-drop") + 1]).toBe("ALL");
  const places = ["/usr", "/workspace", "/workspace/secrets", "/workspace/.env", "/"].map((target) =>
    options.indexOf(target),
  );
  expect(places).toEqual([...places].sort((left, right) => left - right));
  expect(options).not.toContain("--share-net");
  expect(line.slice(0, 3)).toEqual(["--args", "10", "--"]);
  expect(line.slice(-1)).toEqual(["true"]);
});

test("more mounts than bwrap takes are refused before it is started", () => {
  const many = (count: number): SandboxRequest => ({
    ...REQUEST,
    workspace: Array.from({ length: count }, (_, index) => ({ kind: "hide_file", target: `/workspace/${index}` })),
  });
  expect(bwrapArguments(planSandbox(many(2800), "x64")).options.length).toBeGreaterThan(0);
  expect(() => bwrapArguments(planSandbox(many(2801), "x64"))).toThrow("more mounts");
  const wordy = { ...REQUEST, command: ["echo", ...Array.from({ length: 9000 }, () => "x")] } as const;
  expect(() => bwrapArguments(planSandbox(wordy, "x64"))).toThrow("more words");
});
