/** Gadgets of programs that exist to run others, as far as `wrappers.ts` does not read which. */
import { edits, type Gadget, starts } from "./gadget.ts";

/** Wrappers whose command is not read. */
export const RUNNERS: readonly Gadget[] = [
  starts(
    "parallel sem entr watchexec reflex nodemon onchange guardvisor pm2 forever foreman overmind honcho hivemind",
    "parallel(1), entr(1)",
    { always: true, unless: "--version" },
  ),
  starts(
    "nsenter unshare setpriv capsh firejail bwrap runcon sandbox aa-exec sandbox-exec nsjail minijail0 chpst softlimit s6-setuidgid execlineb runsv sv svc s6-svscan",
    "nsenter(1), chpst(8)",
    { always: true },
  ),
  starts(
    "systemd-run pkexec run0 machinectl systemd-inhibit systemd-cat daemon daemonize nq",
    "systemd-run(1), pkexec(1)",
    { always: true },
  ),
  starts("rlwrap rlfe ledit genie aoss padsp apulse vglrun optirun primusrun gamemoderun mangohud", "rlwrap(1)", {
    always: true,
  }),
  starts(
    "pexec cpulimit multitime hyperfine bench runlim memusage heaptrack operf ocount rr uftrace coz likwid-perfctr",
    "cpulimit(1), hyperfine(1)",
    { always: true },
  ),
  starts("setlock lckdo with-lock-ex dotlockfile lockfile lockrun run-one solo", "setlock(8)", { always: true }),
  starts(
    "envdir envuidgid setuidgid setuser s6-env s6-envdir dotenv env-cmd envchain doppler op chamber aws-vault teller infisical",
    "envdir(8)",
    { always: true, unless: "--version, list, whoami, read" },
  ),
  starts("sops", "sops(1)", { verbs: "exec-env, exec-file, edit, publish" }),
  starts("ksu login newgrp sg agetty getty openvt sulogin su1 calife dzdo pfexec", "login(1), newgrp(1)", {
    always: true,
  }),
  starts("run-parts runparts anacron", "run-parts(8)", { always: true, unless: "--test, --list" }),
  starts("s6-setsid s6-softlimit s6-envuidgid pidproxy", "s6-setsid(8), supervisor: pidproxy", { always: true }),
  starts("schroot dchroot fakechroot libtool", "schroot(1), fakechroot(1), libtool(1)", { always: true }),
  starts("pee mispipe zrun", "pee(1)", { always: true }),
  starts("msgfilter msgexec", "msgfilter(1), msgexec(1)", { always: true }),
  starts("gtester grc colour stderred", "grc(1)", { always: true }),
  starts("cgexec cgclassify systemd-cgtop", "cgexec(1)", { always: true }),
  starts(
    "qemu-x86_64 qemu-i386 qemu-aarch64 qemu-arm qemu-riscv64 wine wine64 box64 box86 FEXInterpreter mono dosbox rosetta",
    "qemu(1), wine(1)",
    { always: true },
  ),
  starts(
    "nyc c8 concurrently npm-run-all run-s run-p wait-on start-server-and-test husky lint-staged",
    "each program's own help",
    { always: true },
  ),
  starts("perf", "perf(1)", {
    options: "--objdump --addr2line --post --pre --script --gen-script --control",
    verbs: "script, test, bench, archive, ftrace, inject, c2c, kvm, mem, lock, sched, kmem, timechart, daemon",
  }),
  starts("strace ltrace", "strace(1)", { words: /^(?:-\w*o|--output=)?[|!]/, by: "-o |program" }),
  starts("pidstat", "pidstat(1)", { options: "-e" }),
  starts("scriptreplay scriptlive", "scriptlive(1)", { options: "-c --command" }),
  starts("watch", "watch(1)", { options: "-s --shell --shotsdir" }),
  starts("task", "task(1)", { verbs: "execute, exec, edit, shell", words: /^rc[.:]/, by: "rc." }),
  edits("tasksh timew", "tasksh(1)", { always: true }),
  edits("bashbug perlbug reportbug apport-cli apport-bug ubuntu-bug", "perlbug(1)", { always: true }),
  starts("csvtool", "csvtool(1)", { verbs: "call" }),
];
