/** Gadgets of programs that exist to run others, as far as `wrappers.ts` does not read which. */
import type { Gadget } from "./gadget.ts";

/** Wrappers whose command is not read. */
export const RUNNERS: readonly Gadget[] = [
  {
    of: "parallel sem entr watchexec reflex nodemon onchange guardvisor pm2 forever foreman overmind honcho hivemind",
    does: "starts",
    always: true,
    unless: "--version",
    source: "parallel(1), entr(1)",
  },
  {
    of: "nsenter unshare setpriv capsh firejail bwrap runcon sandbox aa-exec sandbox-exec nsjail minijail0 chpst softlimit s6-setuidgid execlineb runsv sv svc s6-svscan",
    does: "starts",
    always: true,
    source: "nsenter(1), chpst(8)",
  },
  {
    of: "systemd-run pkexec run0 machinectl systemd-inhibit systemd-cat daemon daemonize nq",
    does: "starts",
    always: true,
    source: "systemd-run(1), pkexec(1)",
  },
  {
    of: "rlwrap rlfe ledit genie aoss padsp apulse vglrun optirun primusrun gamemoderun mangohud",
    does: "starts",
    always: true,
    source: "rlwrap(1)",
  },
  {
    of: "pexec cpulimit multitime hyperfine bench runlim memusage heaptrack operf ocount rr uftrace coz likwid-perfctr",
    does: "starts",
    always: true,
    source: "cpulimit(1), hyperfine(1)",
  },
  {
    of: "setlock lckdo with-lock-ex dotlockfile lockfile lockrun run-one solo",
    does: "starts",
    always: true,
    source: "setlock(8)",
  },
  {
    of: "envdir envuidgid setuidgid setuser s6-env s6-envdir dotenv env-cmd envchain doppler op chamber aws-vault teller infisical",
    does: "starts",
    always: true,
    unless: "--version, list, whoami, read",
    source: "envdir(8)",
  },
  { of: "sops", does: "starts", verbs: "exec-env, exec-file, edit, publish", source: "sops(1)" },
  {
    of: "ksu login newgrp agetty getty openvt sulogin su1 calife dzdo pfexec",
    does: "starts",
    always: true,
    source: "login(1), newgrp(1)",
  },
  { of: "run-parts runparts anacron", does: "starts", always: true, unless: "--test, --list", source: "run-parts(8)" },
  { of: "pee mispipe zrun", does: "starts", always: true, source: "pee(1)" },
  { of: "msgfilter msgexec", does: "starts", always: true, source: "msgfilter(1), msgexec(1)" },
  { of: "gtester grc colour stderred", does: "starts", always: true, source: "grc(1)" },
  { of: "cgexec cgclassify systemd-cgtop", does: "starts", always: true, source: "cgexec(1)" },
  {
    of: "qemu-x86_64 qemu-i386 qemu-aarch64 qemu-arm qemu-riscv64 wine wine64 box64 box86 FEXInterpreter mono dosbox rosetta",
    does: "starts",
    always: true,
    source: "qemu(1), wine(1)",
  },
  {
    of: "nyc c8 concurrently npm-run-all run-s run-p wait-on start-server-and-test husky lint-staged",
    does: "starts",
    always: true,
    source: "each program's own help",
  },
  {
    of: "perf",
    does: "starts",
    options: "--objdump --addr2line --post --pre --script --gen-script --control",
    verbs: "script, test, bench, archive, ftrace, inject, c2c, kvm, mem, lock, sched, kmem, timechart, daemon",
    source: "perf(1)",
  },
  { of: "strace ltrace", does: "starts", words: /^(?:-\w*o|--output=)?[|!]/, by: "-o |program", source: "strace(1)" },
  { of: "pidstat", does: "starts", options: "-e", source: "pidstat(1)" },
  { of: "scriptreplay scriptlive", does: "starts", options: "-c --command", source: "scriptlive(1)" },
  { of: "watch", does: "starts", options: "-s --shell --shotsdir", source: "watch(1)" },
  { of: "task", does: "starts", verbs: "execute, exec, edit, shell", words: /^rc[.:]/, by: "rc.", source: "task(1)" },
  { of: "tasksh timew", does: "edits", always: true, source: "tasksh(1)" },
  {
    of: "bashbug perlbug reportbug apport-cli apport-bug ubuntu-bug",
    does: "edits",
    always: true,
    source: "perlbug(1)",
  },
  { of: "csvtool", does: "starts", verbs: "call", source: "csvtool(1)" },
];
