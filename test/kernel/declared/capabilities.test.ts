/**
 * Capabilities as meao defines them: levels, danger patterns, conditions and network rules, each asked for by a rule of
 * its own.
 */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { parseSettings } from "../../../src/config/config.ts";
import { FileWriteSchema, ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { DANGER_STEPS_MAX, DANGER_TEXT_CHARACTERS_MAX } from "../../../src/kernel/declared/danger-patterns.ts";
import { patternsReady, ToolRegistry } from "../../../src/kernel/index.ts";
import type { CallResponse } from "../../../src/model/tool/call.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import { effectiveTools } from "../../../src/server/operator/capability-overrides.ts";
import { encodeRequest } from "../../../src/wire/protobuf.ts";
import { memoryKernel } from "../../support/memory-kernel.ts";

type Capability = Tool["capability"];

/** meao's danger patterns of `bash`. */
const BASH = [/rm\s+-rf/, />\s*\/dev\/sd/, /mkfs/, /dd\s+if=/, /chmod\s+777/, /curl.*\|\s*sh/, /wget.*\|\s*sh/];

/** A tool with the capability of meao's `bash`, which runs nothing. */
function bash(approval: Capability["approval"]): Tool {
  return {
    name: "bash",
    title: "bash",
    description: "a shell that runs nothing",
    parameters: z.strictObject({ command: z.string(), note: z.unknown().optional() }),
    capability: { effect: "exec", risk: "low", approval },
    analyse: () => [],
    execute: () => ({ kind: "data", data: {} }),
  };
}

/** A tool with the capability of meao's `web_fetch`, which fetches nothing. */
function fetcher(more: Partial<Capability> = {}): Tool {
  return {
    name: "fetch",
    title: "fetch",
    description: "fetches nothing",
    parameters: z.strictObject({ url: z.string(), method: z.string().default("GET") }),
    capability: {
      effect: "network",
      risk: "low",
      approval: {
        level: "auto",
        conditions: { methodRequiresApproval: ["POST", "PUT", "DELETE"], unknownHostRequiresApproval: true },
      },
      network: {
        mode: "allowlist",
        allowedHosts: ["*.github.com", "registry.example"],
        blockedPorts: [22, 23, 25, 3389],
        blockPrivateIPs: true,
        blockMetadataEndpoints: true,
      },
      labels: { outputTrust: "untrusted", outputDataClass: "internal" },
      ...more,
    },
    analyse: (args) => {
      const url = new URL((args as { url: string }).url);
      const port = url.port === "" ? 443 : Number(url.port);
      return [{ resource: { kind: "host", host: url.hostname, port }, effect: "network" }];
    },
    execute: () => ({ kind: "data", data: {} }),
  };
}

/** Flow control asks by itself; here it is waived, to see the capability alone. */
const permit = (name: string, waives?: string) =>
  `@id("own.${name}") @message("m") @waives("${["FC-2", "FC-3", ...(waives === undefined ? [] : [waives])].join(", ")}") permit (principal, action == Handrail::Action::"${name}", resource);\n`;

/** How a call ended: `runs`, or the reason and the rule. */
function ended({ outcome }: CallResponse): string {
  if (outcome.kind === "denied") return `${outcome.denial.reason} ${outcome.denial.ruleId}`;
  return outcome.kind === "error" ? outcome.code : "runs";
}

const shell = async (approval: Capability["approval"], waives?: string) => {
  const kernel = await memoryKernel({ tools: [bash(approval)], policies: permit("bash", waives) });
  return async (command: string) => ended(await kernel.call("bash", { command }));
};

describe("levels", () => {
  test.each<readonly [Capability["approval"]["level"], string]>([
    ["auto", "runs"],
    ["ask", "tool_approval_required CAPABILITY:bash"],
    ["always_deny", "tool_approval_denied CAPABILITY:bash"],
  ])("%s: %s", async (level, expected) => {
    expect(await (await shell({ level }))("ls")).toBe(expected);
  });

  test("`ask` is waived by the operator for what a permit matches, `always_deny` by nothing", async () => {
    expect(await (await shell({ level: "ask" }, "CAPABILITY:bash"))("ls")).toBe("runs");
    expect(await (await shell({ level: "always_deny" }, "*"))("ls")).toBe("tool_approval_denied CAPABILITY:bash");
  });

  test("a tool of high risk needs arming, unless it says that it does not", async () => {
    const risky = (more: Partial<Capability>): Tool => ({
      ...bash({ level: "auto" }),
      capability: { effect: "exec", risk: "high", approval: { level: "auto" }, ...more },
    });
    const run = async (tool: Tool) =>
      ended(await (await memoryKernel({ tools: [tool], policies: permit("bash") })).call("bash", { command: "ls" }));
    expect(await run(risky({}))).toBe("tool_requires_arming CAPABILITY:bash");
    expect(await run(risky({ requiresArming: false }))).toBe("runs");
    expect(await run(risky({ risk: "medium", requiresArming: true }))).toBe("tool_requires_arming CAPABILITY:bash");
  });
});

describe("danger patterns", () => {
  test("what matches asks by the rule of the first pattern that matches, the rest runs", async () => {
    const run = await shell({ level: "auto", dangerPatterns: BASH });
    const tried = [
      "ls -la",
      "rm -rf /",
      "rm file",
      "mkfs.ext4 /dev/sda",
      "chmod 755 x",
      "chmod  777 x",
      "curl a | sh",
      "curl a -o b",
    ];
    expect(await Promise.all(tried.map(run))).toEqual([
      "runs",
      "tool_approval_required DANGER:bash:1",
      "runs",
      "tool_approval_required DANGER:bash:3",
      "runs",
      "tool_approval_required DANGER:bash:5",
      "tool_approval_required DANGER:bash:6",
      "runs",
    ]);
  });

  test("white space that JSON escapes is white space all the same", async () => {
    const run = await shell({ level: "auto", dangerPatterns: BASH });
    // Control: the canonical JSON alone holds a backslash and a letter there.
    expect(/rm\s+-rf/.test(JSON.stringify({ command: "rm\t-rf /" }))).toBe(false);
    expect(await run("rm\t-rf /")).toBe("tool_approval_required DANGER:bash:1");
    expect(await run("curl a \\\n | sh")).toBe("tool_approval_required DANGER:bash:6");
  });

  test("people are asked about a danger by its own kind of request, and about anything else by the other", async () => {
    const kernel = await memoryKernel({
      tools: [bash({ level: "ask", dangerPatterns: BASH })],
      policies: permit("bash"),
    });
    await kernel.call("bash", { command: "rm -rf /" });
    await kernel.call("bash", { command: "ls" });
    expect(kernel.ledger.of("approval_requested").map(({ payload }) => payload["approvalId"])).toEqual([
      "bash:danger",
      "bash:execute",
    ]);
  });

  test("each pattern is lifted by itself", async () => {
    const waived = await shell({ level: "auto", dangerPatterns: BASH }, "DANGER:bash:1");
    expect(await waived("rm -rf build")).toBe("runs");
    expect(await waived("rm -rf build; mkfs /dev/sda")).toBe("tool_approval_required DANGER:bash:3");
    const all = await shell({ level: "ask", dangerPatterns: BASH }, "DANGER:bash:*");
    expect(await all("rm -rf build; mkfs /dev/sda")).toBe("tool_approval_required CAPABILITY:bash");
    const capability = await shell({ level: "ask", dangerPatterns: BASH }, "CAPABILITY:bash");
    expect(await capability("ls")).toBe("runs");
    expect(await capability("rm -rf build")).toBe("tool_approval_required DANGER:bash:1");
  });

  test("nested arguments are looked through, names of members too", async () => {
    const kernel = await memoryKernel({
      tools: [bash({ level: "auto", dangerPatterns: [/mkfs/] })],
      policies: permit("bash"),
    });
    const run = async (note: Parameters<typeof kernel.call>[1][string]) =>
      ended(await kernel.call("bash", { command: "ls", note: note ?? null }));
    expect(await run([{ a: ["mkfs"] }])).toBe("tool_approval_required DANGER:bash:1");
    expect(await run([{ mkfs: 1 }])).toBe("tool_approval_required DANGER:bash:1");
    expect(await run([{ a: ["mk", "fs"] }])).toBe("runs");
  });

  test("bytes of the wire are looked through as the text that they are, also around what is no text", async () => {
    const settings = await parseSettings(
      "capabilities: { write_file: { danger_patterns: ['rm\\s+-rf', 'löschen'] } }\n",
      "handrail.yaml",
    );
    const kernel = await memoryKernel();
    const changed = new ToolRegistry();
    for (const one of effectiveTools(kernel.registry.current.getAll(), settings).tools) changed.register(one);
    kernel.registry.current = changed;
    await patternsReady();
    const write = async (content: Uint8Array) => {
      const tool = { case: "fileWrite" as const, value: create(FileWriteSchema, { path: "a.sh", content }) };
      const bytes = encodeRequest(create(ToolRequestSchema, { requestId: "w", sessionToken: kernel.token, tool }));
      return ended(await kernel.door.execute({ kind: "wire", bytes }, new AbortController().signal));
    };
    expect(ended(await kernel.call("write_file", { path: "a.sh", content: "rm -rf /" }))).toBe(
      "tool_approval_required DANGER:write_file:1",
    );
    expect(await write(Buffer.from("rm -rf /"))).toBe("tool_approval_required DANGER:write_file:1");
    expect(await write(Buffer.from("\xff\xfe rm\t-rf /", "latin1"))).toBe("tool_approval_required DANGER:write_file:1");
    expect(await write(Buffer.concat([Buffer.of(0xff), Buffer.from("löschen")]))).toBe(
      "tool_approval_required DANGER:write_file:2",
    );
    expect(await write(Buffer.from("ls"))).toBe("runs");
  });

  test("arguments that are too large to be looked through ask", async () => {
    const run = await shell({ level: "auto", dangerPatterns: [/mkfs/] });
    const room = DANGER_TEXT_CHARACTERS_MAX - "command".length;
    expect(await run("x".repeat(room))).toBe("runs");
    expect(await run("x".repeat(room + 1))).toBe("tool_approval_required DANGER:bash:unread");
  });

  test("patterns with many states are tried on shorter arguments", async () => {
    const run = await shell({ level: "auto", dangerPatterns: [/[ab]x{1,900}c/] });
    expect(await run("a".repeat(4000))).toBe("runs");
    expect(await run("a".repeat(DANGER_STEPS_MAX / 900))).toBe("tool_approval_required DANGER:bash:unread");
  });

  test("a pattern that makes JavaScript's engine hang answers", async () => {
    const run = await shell({ level: "auto", dangerPatterns: [/(a+)+$/, /(x+x+)+y/] });
    // Such a text takes JavaScript's engine longer than the age of the universe; here it is one of few steps.
    expect(await run(`${"a".repeat(5000)}!`)).toBe("runs");
    expect(await run("x".repeat(5000))).toBe("runs");
  });

  test.each<readonly [RegExp, RegExp]>([
    [/(?=a)b/, /danger patterns of `bash` are refused: pattern 1: look-around/],
    [/(a)\1/, /back-reference/],
    [/a{2000}/, /lower their bounds/],
  ])("%s is refused when the tool is registered", async (pattern, problem) => {
    await expect(memoryKernel({ tools: [bash({ level: "auto", dangerPatterns: [pattern] })] })).rejects.toThrow(
      problem,
    );
  });
});

describe("conditions and network rules", () => {
  const kernelOf = async (more: Partial<Capability> = {}, waives?: string) => {
    const kernel = await memoryKernel({ tools: [fetcher(more)], policies: permit("fetch", waives) });
    const fetch = async (url: string, method?: string) =>
      ended(await kernel.call("fetch", { url, ...(method !== undefined && { method }) }));
    return { kernel, fetch };
  };

  test("a method asks where the declaration names it", async () => {
    const { fetch } = await kernelOf();
    const url = "https://api.github.com/x";
    expect([await fetch(url), await fetch(url, "GET"), await fetch(url, "HEAD")]).toEqual(["runs", "runs", "runs"]);
    for (const method of ["POST", "put", " delete "]) {
      expect(await fetch(url, method)).toBe("tool_approval_required CAPABILITY:fetch:method");
    }
  });

  test("a method that is no text asks, because nobody can say which one it is", async () => {
    const loose = { ...fetcher(), parameters: z.strictObject({ url: z.string(), method: z.unknown() }) };
    const kernel = await memoryKernel({ tools: [loose], policies: permit("fetch") });
    const fetch = async (method: readonly string[] | string) =>
      ended(await kernel.call("fetch", { url: "https://api.github.com/x", method }));
    expect([await fetch("GET"), await fetch(["POST"])]).toEqual([
      "runs",
      "tool_approval_required CAPABILITY:fetch:method",
    ]);
  });

  test("an unknown host asks where the declaration says so, and is denied elsewhere", async () => {
    const { fetch } = await kernelOf();
    expect(await fetch("https://registry.example/")).toBe("runs");
    expect(await fetch("https://api.github.com/")).toBe("runs");
    // `*.` names what lies below, not the apex.
    expect(await fetch("https://github.com/")).toBe("tool_approval_required CAPABILITY:fetch:host");
    expect(await fetch("https://example.org/")).toBe("tool_approval_required CAPABILITY:fetch:host");
    const strict = await kernelOf({ approval: { level: "auto" } });
    expect(await strict.fetch("https://registry.example/")).toBe("runs");
    expect(await strict.fetch("https://example.org/")).toBe("permission_denied NETWORK:fetch:host");
    const any = await kernelOf({ approval: { level: "auto" }, network: { mode: "any" } });
    expect(await any.fetch("https://example.org/")).toBe("runs");
  });

  test("a waiver of a condition lifts that one, one of the capability all of them", async () => {
    const host = await kernelOf({}, "CAPABILITY:fetch:host");
    expect(await host.fetch("https://example.org/")).toBe("runs");
    expect(await host.fetch("https://example.org/", "POST")).toBe("tool_approval_required CAPABILITY:fetch:method");
    const all = await kernelOf({}, "CAPABILITY:fetch");
    expect(await all.fetch("https://example.org/", "POST")).toBe("runs");
  });

  test("a tool that hides its host asks as for an unknown one", async () => {
    const hiding = { ...fetcher(), analyse: () => [] };
    const kernel = await memoryKernel({ tools: [hiding], policies: permit("fetch") });
    expect(ended(await kernel.call("fetch", { url: "https://api.github.com/" }))).toBe(
      "tool_approval_required CAPABILITY:fetch:host",
    );
  });

  test.each([
    ["https://api.github.com:22/", "NETWORK:fetch:port"],
    ["https://127.0.0.1/", "NETWORK:fetch:private"],
    ["https://2130706433/", "NETWORK:fetch:private"],
    ["https://[::ffff:10.0.0.1]/", "NETWORK:fetch:private"],
    ["https://localhost/", "NETWORK:fetch:private"],
    ["https://169.254.169.254/latest/", "NETWORK:fetch:metadata"],
    ["https://metadata.google.internal/", "NETWORK:fetch:metadata"],
  ])("%s is blocked by %s, and no waiver lifts that", async (url, rule) => {
    for (const waives of [undefined, "*"]) {
      const { kernel, fetch } = await kernelOf({}, waives);
      expect(await fetch(url)).toBe(`permission_denied ${rule}`);
      expect(kernel.ledger.of("network_blocked").map(({ payload }) => payload)).toMatchObject([
        { tool: "fetch", reason: "permission_denied", ruleId: rule, severity: "warning" },
      ]);
    }
  });

  test("private addresses are blocked unless the declaration opens them", async () => {
    const url = "https://127.0.0.1/";
    const opened = (network: NonNullable<Capability["network"]>) => kernelOf({ approval: { level: "auto" }, network });
    expect(await (await opened({ mode: "any" })).fetch(url)).toBe("permission_denied NETWORK:fetch:private");
    expect(await (await opened({ mode: "any", blockPrivateIPs: false })).fetch(url)).toBe("runs");
    expect(await (await opened({ mode: "any", blockPrivateIPs: false })).fetch("https://169.254.169.254/")).toBe(
      "permission_denied NETWORK:fetch:metadata",
    );
    expect(await (await opened({ mode: "none" })).fetch("https://example.org/")).toBe(
      "permission_denied NETWORK:fetch:mode",
    );
  });
});

test("a required role beats every permit and waiver", async () => {
  const tool = {
    ...bash({ level: "auto" }),
    capability: { ...bash({ level: "auto" }).capability, requiredRole: "sre" },
  };
  const run = async (role: string) => {
    const kernel = await memoryKernel({
      tools: [tool],
      policies: permit("bash", "*"),
      session: { role },
      preset: "open",
    });
    return ended(await kernel.call("bash", { command: "ls" }));
  };
  expect([await run("sre"), await run("dev"), await run("release_manager")]).toEqual([
    "runs",
    "permission_denied RBAC:bash",
    "permission_denied RBAC:bash",
  ]);
});

test("a call that waited while the operator changed what its tool asks is refused before it runs", async () => {
  const tool = bash({ level: "auto" });
  const kernel = await memoryKernel({ tools: [tool], policies: permit("bash") });
  const settings = await parseSettings("capabilities:\n  bash:\n    log_args: true\n", "handrail.yaml");
  kernel.ledger.before = ({ type }) => {
    if (type !== "tool_selected") return;
    const changed = new ToolRegistry();
    for (const one of effectiveTools(kernel.registry.current.getAll(), settings).tools) changed.register(one);
    kernel.registry.current = changed;
  };
  expect(ended(await kernel.call("bash", { command: "ls" }))).toBe("tool_policy_invalid CAPABILITY:changed");
  kernel.ledger.before = () => undefined;
  expect(ended(await kernel.call("bash", { command: "ls" }))).toBe("runs");
});

test("an explanation names what the capability asks, and why", async () => {
  const kernel = await memoryKernel({
    tools: [bash({ level: "ask", dangerPatterns: BASH })],
    policies: permit("bash"),
  });
  const { accesses } = await kernel.door.explain({ who: kernel, tool: "bash", args: { command: "rm -rf /" } });
  expect(accesses.map(({ policy: { verdict } }) => verdict.decision === "allow" && verdict.obligations)).toEqual([
    [
      { obligation: "ask", ruleId: "CAPABILITY:bash", reason: "`bash` asks for every call" },
      { obligation: "ask", ruleId: "DANGER:bash:1", reason: "the arguments match the danger pattern `/rm\\s+-rf/`" },
    ],
  ]);
});

describe("the security audit", () => {
  const records = async (role: string, effect: Capability["effect"]) => {
    const tool = {
      ...bash({ level: "auto" }),
      capability: { effect, risk: "low", approval: { level: "auto" } },
    } as const;
    const kernel = await memoryKernel({ tools: [tool], policies: permit("bash", "*"), session: { role } });
    await kernel.call("bash", { command: "ls" });
    return kernel.ledger.events
      .filter(({ type }) => type.startsWith("tool_"))
      .map(({ type, payload }) => `${type} ${String(payload["severity"])}`);
  };

  test("holds everything that an sre or a release manager does", async () => {
    expect(await records("dev", "exec")).toEqual(["tool_selected undefined", "tool_executed undefined"]);
    expect(await records("sre", "exec")).toEqual(["tool_selected info", "tool_executed info"]);
    expect(await records("release_manager", "exec")).toEqual(["tool_selected info", "tool_executed info"]);
  });

  test("calls what touches the machine itself critical, refusals included", async () => {
    expect(await records("sre", "system")).toEqual(["tool_selected critical", "tool_executed critical"]);
    expect(await records("dev", "system")).toEqual(["tool_execution_denied critical"]);
  });
});
