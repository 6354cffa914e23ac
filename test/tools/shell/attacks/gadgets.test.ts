// Programs that start others by their options: the control really runs them, and leaves a mark in a directory of the
// test; whoever decides about the command is told of each, by the name of what it starts or by a mark with its reason.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseCommand } from "../../../../src/tools/shell/reading/parse-command.ts";

let place: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "handrail-gadgets-"));
  writeFileSync(join(place, "a.txt"), "text\n");
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** By program: a call that starts `touch mark`. */
const GADGETS: Readonly<Record<string, string>> = {
  script: "script -qc 'touch mark' /dev/null",
  choom: "choom -n 0 -- touch mark",
  setarch: "setarch -R touch mark",
  linux64: "linux64 touch mark",
  "ssh-agent": "ssh-agent touch mark",
  "start-stop-daemon": "start-stop-daemon -S -x /usr/bin/touch -- mark",
  bash: "jobs -x touch mark",
  compgen: "compgen -C 'touch mark'",
  "compgen -W": "compgen -W '$(touch mark)'",
  sqlite3: "sqlite3 :memory: '.shell touch mark'",
  "sqlite3 in short": "sqlite3 :memory: '.sh touch mark'",
  socat: "socat -u exec:'touch mark' -",
  ed: "printf '!touch mark\\nq\\n' | ed -s a.txt",
  tar: "tar cf /dev/null a.txt --checkpoint=1 --checkpoint-act=exec='touch mark'",
  "tar by a word": 'o=--checkpoint-action=exec=touch\\ mark; tar cf /dev/null a.txt --checkpoint=1 "$o"',
  sed: "sed 's#text#touch mark#e' a.txt",
  "sed joined": "sed -n -e'1e touch mark' a.txt",
  "sed after a label": "sed ':a;N;$!ba;s,^,touch mark;,e' a.txt",
  awk: 'awk \'BEGIN { print "touch mark" | "sh" }\'',
  split: "split -l 1 --filt='touch mark' a.txt",
  strace: "strace -o '|touch mark' true",
  zip: "zip -q t.zip a.txt -T -TT 'touch mark #'",
  git: "git -c alias.x='!touch mark' x",
  "git config": "git init -q r; git -C r config alias.x '!touch ../mark'; git -C r x",
  less: "LESSOPEN='|touch mark' less a.txt",
  man: "MANPAGER='touch mark' man -l a.txt",
};

const isInstalled = (line: string) =>
  spawnSync("bash", ["-c", `type -t "${line.split(" ")[0]?.replace(/.*=.*/, "true")}"`], { stdio: "ignore" }).status ===
  0;

test.each(Object.entries(GADGETS))("%s: the decider is told what it starts, or that it does", (_, line) => {
  const { commands } = parseCommand(line, ".");
  const isNamed = commands.some(
    ({ binary, arguments: given, via }) => binary.endsWith("touch") && given.includes("mark") && via.length > 0,
  );
  expect(isNamed || commands.some(({ binary, dangers }) => binary === "?" && dangers.length > 0)).toBe(true);
});

test("the control: without anybody who decides they do start it", () => {
  const started: string[] = [];
  for (const [name, line] of Object.entries(GADGETS).filter(([, one]) => isInstalled(one))) {
    spawnSync("bash", ["--noprofile", "--norc", "-c", `{ ${line}\n} </dev/null`], {
      cwd: place,
      env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", HOME: place, TERM: "dumb" },
      stdio: "ignore",
      timeout: 20_000,
    });
    if (existsSync(join(place, "mark"))) started.push(name);
    rmSync(join(place, "mark"), { force: true });
    rmSync(join(place, "r"), { recursive: true, force: true });
  }
  // What every machine has on which the tests run; the others are tried where they are installed.
  const everywhere = [
    "script",
    "choom",
    "setarch",
    "linux64",
    "bash",
    "compgen",
    "compgen -W",
    "tar",
    "sed",
    "sed joined",
    "awk",
    "split",
    "git",
  ];
  expect(started).toEqual(expect.arrayContaining(everywhere));
});
