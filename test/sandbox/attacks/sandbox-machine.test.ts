// What a command in a sandbox finds of the machine: other processes, descriptors, devices, rights, networks. Every
// control shows the same command without the one defence that the test is about.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, copyFileSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import koffi from "koffi";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { ScopeJudge } from "../../../src/sandbox/sandbox.ts";
import {
  asSandboxUser,
  newSandboxPlace,
  own,
  perl,
  type SandboxPlace,
  sandboxUser,
  testedBackend,
  type Without,
} from "../../support/sandbox-place.ts";

let place: SandboxPlace;
beforeAll(() => {
  place = newSandboxPlace();
  writeFileSync(join(place.outside, "mark"), "outside");
});
afterAll(() => place.close());

/** All of `--unshare-all` but one. */
function sharing(kind: "pid" | "net" | "ipc" | "uts"): Without {
  const others = ["pid", "net", "ipc", "uts", "cgroup"].filter((name) => name !== kind);
  return { options: [["--unshare-all"]], added: others.map((name) => `--unshare-${name}`) };
}

async function outputs(
  without: Without,
  command: string,
): Promise<{ readonly defended: string; readonly control: string }> {
  return {
    defended: (await place.run(command)).stdout.trim(),
    control: (await place.runWithout(without, command)).stdout.trim(),
  };
}

test("the root of the first process shows nothing more than the command's own", async () => {
  const shown: Without = {
    plan: (plan) => ({
      ...plan,
      mounts: [...plan.mounts, { kind: "read_only", source: place.base, target: "/shown" }],
    }),
  };
  const { defended, control } = await outputs(
    shown,
    `for root in /proc/1/root /proc/self/root /proc/1/cwd/..; do cat $root/shown/outside/mark $root${place.outside}/mark; done 2>/dev/null`,
  );
  expect({ defended, control }).toEqual({ defended: "", control: "outsideoutsideoutside" });
});

test("processes of the same user are neither seen nor ended", async () => {
  const isRoot = process.geteuid?.() === 0;
  const victim = spawn("sleep", ["60"], { stdio: "ignore", ...(isRoot && { uid: sandboxUser(), gid: sandboxUser() }) });
  onTestFinished(() => void victim.kill("SIGKILL"));
  const command = `kill -TERM ${victim.pid} && echo ended || echo nobody`;
  expect((await place.run(command)).stdout.trim()).toBe("nobody");
  expect(victim.signalCode).toBeNull();
  const ended = once(victim, "exit");
  expect((await place.runWithout(sharing("pid"), command)).stdout.trim()).toBe("ended");
  expect((await ended)[1]).toBe("SIGTERM");
});

test("the environment of whoever started the sandbox is not in it", async () => {
  process.env["HANDRAIL_TEST_MARK"] = "secret";
  onTestFinished(() => {
    delete process.env["HANDRAIL_TEST_MARK"];
  });
  const { defended, control } = await outputs(
    { prefix: ["env", "HANDRAIL_TEST_MARK=secret"] },
    "cat /proc/*/environ | tr '\\0' '\\n' | grep -c MARK; env | grep -c MARK",
  );
  // without its own clean environment bwrap hands it on: `--clearenv` clears the command's, not its own
  expect({ defended, control }).toEqual({ defended: "0\n0", control: "1\n0" });
});

test("how the sandbox was started says nothing of the machine: neither its places nor the environment of others", async () => {
  // a pattern that does not match itself: it stands on a line as well
  const pattern = `${place.base.slice(0, -1)}[${place.base.slice(-1)}]`;
  const looking = ["bash", "-c", "cat /proc/*/cmdline | tr '\\0' '\\n' | grep -c -E \"$1\"", "bash", pattern] as const;
  const environment = { HANDRAIL_TEST_MARK: "secret" };
  const named = { ...environment, SEEN_OUTSIDE: place.base };
  expect((await place.run(looking, { environment: named })).stdout).toBe("0\n");
  const control = await place.runWithout({ onLine: true }, looking, { environment: named });
  expect(Number(control.stdout)).toBeGreaterThan(1); // the workspace's place, and the variable
  // of the first process' environment nothing is left but where programs are looked for; a container's has the
  // command's own
  const first = "tr '\\0' '\\n' </proc/1/environ | cut -d= -f1 | sort";
  expect((await place.run(`comm -23 <(${first}) <(env | cut -d= -f1 | sort)`, { environment })).stdout).toBe("");
  if (testedBackend() === "bwrap") expect((await place.run(first, { environment })).stdout).toBe("PATH\n");
});

test("descriptors that somebody left open in the kernel's process do not reach a command", async () => {
  const libc = koffi.load(null);
  const fcntl = libc.func("int fcntl(int descriptor, int command, int argument)");
  const directory = openSync(place.outside, "r");
  onTestFinished(() => closeSync(directory));
  const F_SETFD = 2;
  const handOn = () => fcntl(directory, F_SETFD, 0);
  const command = `cat /proc/self/fd/${directory}/mark 2>/dev/null || echo closed`;
  handOn();
  const raw = [
    "--unshare-all",
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/lib",
    "/lib",
  ];
  const isRoot = process.geteuid?.() === 0;
  const control = spawnSync(
    "/usr/bin/bwrap",
    [...raw, "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "sh", "-c", command],
    {
      cwd: "/",
      encoding: "utf8",
      ...(isRoot && { uid: sandboxUser(), gid: sandboxUser() }),
    },
  );
  expect(control.stdout).toBe("outside");
  handOn();
  expect((await place.run(command)).stdout.trim()).toBe("closed");
  expect((await place.run("ls /proc/self/fd")).stdout.trim().split("\n")).toEqual(["0", "1", "2", "3"]); // the last is the listing's own
});

test("devices are the few harmless ones, and none can be added", async () => {
  const harmless = "core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero";
  const command =
    "ls /dev | tr '\\n' ' '; touch /dev/new 2>/dev/null && echo made; mknod /tmp/disk b 8 0 2>/dev/null && echo made";
  const limits = ["--size", "67108864", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"];
  const { defended, control } = await outputs(
    { options: [["--dev", "/dev"], limits], added: ["--dev-bind", "/dev", "/dev"] },
    command,
  );
  expect(defended).toBe(testedBackend() === "bwrap" ? harmless : harmless.replace("core ", ""));
  expect(control).not.toBe(harmless);
  const writable = await place.runWithout({ options: [["--remount-ro", "/dev"]] }, command);
  expect(writable.stdout.trim()).toBe(`${harmless} made`);
});

test("no right is left, and none is gained", async () => {
  const command =
    "grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status | tr -d '\\t' | sort | tr '\\n' ' '";
  const { defended, control } = await outputs(
    { options: [["--cap-drop", "ALL"]], added: ["--cap-add", "ALL"] },
    command,
  );
  const none = "0000000000000000";
  expect(defended).toBe(`CapAmb:${none} CapBnd:${none} CapEff:${none} CapInh:${none} CapPrm:${none} NoNewPrivs:1`);
  expect(control).not.toContain(`CapEff:${none}`);
  expect(asSandboxUser("grep", "NoNewPrivs", "/proc/self/status").trim()).toBe("NoNewPrivs:\t0");
});

test("programs that become another user by their set-id bit do not", async () => {
  const ROOT = "0";
  const program = join(place.root, "who");
  copyFileSync("/usr/bin/id", program);
  if (process.geteuid?.() !== 0) {
    // only root can make one that becomes somebody else: what keeps those of the machine from it is looked at
    expect((await place.run("grep NoNewPrivs /proc/self/status")).stdout).toBe("NoNewPrivs:\t1\n");
    return;
  }
  chmodSync(program, 0o4755);
  expect(asSandboxUser(program, "-u").trim()).toBe(ROOT);
  expect((await place.run("./who -u")).stdout.trim()).toBe("1000");
});

test("the machine's kernel takes no orders about networks, not even about the command's own", async () => {
  const [AF_NETLINK, SOCK_RAW, ROUTE] = [16, 3, 0];
  const [NEW_LINK, REQUEST_AND_ANSWER, LOOPBACK, IFF_UP] = [16, 5, 1, 1];
  // takes the loopback device down, and says what came of it
  const order = perl(`socket(my $s, ${AF_NETLINK}, ${SOCK_RAW}, ${ROUTE}) or die $!;
    send($s, pack("LSSLL CxSlLL", 32, ${NEW_LINK}, ${REQUEST_AND_ANSWER}, 1, 0, 0, 0, ${LOOPBACK}, 0, ${IFF_UP}), 0, pack("SSLL", ${AF_NETLINK}, 0, 0, 0));
    sysread($s, my $answer, 4096); print unpack("l", substr($answer, 16, 4))`);
  const EPERM = "-1";
  expect((await place.run(order)).stdout).toBe(EPERM);
  // whoever makes a network namespace may, as long as it is in the user namespace that made it: the command is in one
  // below
  expect(asSandboxUser("unshare", "-Urn", ...order)).toBe("0");
  // and it says nothing of the machine's: a network of its own has one device
  expect((await place.run("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '")).stdout).toBe("lo\n");
});

test("settings cannot be written, not even those of the command's own namespaces", async () => {
  const setting = "/proc/sys/net/ipv4/ip_forward";
  const write = `echo 1 2>/dev/null >${setting} && echo written`;
  // namespaces alone allow it; the setting is that of a network that ends with the command
  expect(asSandboxUser("unshare", "-Urnpf", "--mount-proc", "sh", "-c", write).trim()).toBe("written");
  const others =
    "for file in /proc/sys/kernel/hostname /proc/sys/vm/swappiness /proc/sysrq-trigger; do [ -w $file ] && echo $file; done; ls /sys 2>/dev/null";
  expect((await place.run(`${write}; ${others}`)).stdout).toBe("");
});

test("memory shared between processes of the machine is not reached", async () => {
  const [IPC_CREAT, IPC_RMID] = [0o1000, 0];
  const key = 0x68616e00 + (process.pid % 256);
  // made outside for the sandbox's user, found only where the namespace is shared
  const id = asSandboxUser("perl", "-e", `print shmget(${key}, 4096, 0600 | ${IPC_CREAT})`);
  onTestFinished(() => void asSandboxUser("perl", "-e", `shmctl(${id}, ${IPC_RMID}, 0)`));
  const found = `perl -e 'print defined shmget(${key}, 0, 0) ? "found" : "none"'`;
  expect(await outputs(sharing("ipc"), found)).toEqual({ defended: "none", control: "found" });
});

async function listening(server: Server, address: object): Promise<void> {
  server.listen(address);
  await once(server, "listening");
  onTestFinished(() => void server.close());
}

function answering(): Server {
  return createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end("answer");
  });
}

test("services of the machine on loopback are not reached, nor names resolved", async () => {
  const server = answering();
  await listening(server, { port: 0, host: "127.0.0.1" });
  const { port } = server.address() as { port: number };
  const command = `timeout 5 bash -c 'cat </dev/tcp/127.0.0.1/${port}' 2>/dev/null || echo none; cat /etc/resolv.conf 2>/dev/null`;
  expect(await outputs(sharing("net"), command)).toEqual({ defended: "none", control: "answer" });
});

test("abstract sockets of the machine are not reached", async () => {
  const name = `handrail-test-${process.pid}`;
  await listening(answering(), { path: `\0${name}` });
  const program = perl(
    `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); print connect($s, pack("Sa*", AF_UNIX, "\\0${name}")) ? <$s> : "none"`,
  );
  expect((await place.run(program)).stdout).toBe("none");
  expect((await place.runWithout(sharing("net"), program)).stdout).toBe("answer");
});

test("sockets of the machine that stand in the workspace are not reached, wherever they stand", async () => {
  mkdirSync(join(place.root, ".git"));
  own(join(place.root, ".git"));
  const judge: ScopeJudge = {
    entry: (path) => (path === ".git" ? "read" : "write"),
    below: () => "write",
    isWhole: (path) => path === ".git",
  };
  for (const path of ["host.sock", ".git/daemon.sock"]) {
    await listening(answering(), { path: join(place.root, path), readableAll: true, writableAll: true });
    const program = perl(
      `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); print connect($s, sockaddr_un("${path}")) ? <$s> : "none"`,
    );
    const seen: Without = {
      plan: (plan) => ({ ...plan, mounts: plan.mounts.filter(({ kind }) => kind !== "hide_file") }),
    };
    expect((await place.run(program, { judge })).stdout).toBe("none");
    expect((await place.runWithout(seen, program, { judge })).stdout).toBe("answer");
  }
});

test("the machine's name is not seen, and nothing of its users", async () => {
  const { defended, control } = await outputs(
    { options: [["--hostname", "sandbox"]] },
    "uname -n; cut -d: -f1 /etc/passwd | tr '\\n' ' '",
  );
  expect(defended).toBe("sandbox\nagent nobody");
  expect(control).not.toContain("sandbox");
  expect(
    (await place.run("ls -d /home /root /var /run /opt /srv /mnt 2>/dev/null; cat /etc/shadow 2>/dev/null")).stdout,
  ).toBe("");
});
