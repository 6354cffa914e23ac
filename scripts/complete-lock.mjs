// Makes package-lock.json whole and free of download addresses.
//
// A registry mirror may lack binaries for platforms it does not serve; npm then leaves those optional packages out
// of the lock file, and `npm ci` refuses the result everywhere. This adds the missing optional entries (exact
// versions only, as their parents name them; never installed on a platform they do not match).
// Run after every change of dependencies: node scripts/complete-lock.mjs
import { readFileSync, writeFileSync } from "node:fs";

const OPERATING_SYSTEMS = [
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "aix",
  "win32",
];
const PROCESSORS = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

/** @param {string} name package name whose last parts tell its platform */
function platformOf(name) {
  const parts = name.split(/[-/]/);
  const os = OPERATING_SYSTEMS.find((known) => parts.includes(known));
  const cpu = PROCESSORS.find((known) => parts.includes(known)) ?? (parts.includes("armv7") ? "arm" : undefined);
  const libc = parts.some((part) => part.startsWith("musl"))
    ? "musl"
    : parts.some((part) => part.startsWith("gnu"))
      ? "glibc"
      : undefined;
  return { ...(cpu && { cpu: [cpu] }), ...(os && { os: [os] }), ...(libc && os === "linux" && { libc: [libc] }) };
}

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
let added = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const nested = `${path}/node_modules/${name}`;
    const top = `node_modules/${name}`;
    if (lock.packages[top] || lock.packages[nested]) continue;
    const platform = platformOf(name);
    if (!platform.os && !platform.cpu)
      throw new Error(`optional package ${name} names no platform: add it to the registry or remove it`);
    lock.packages[top] = { version, ...platform, ...(entry.dev && { dev: true }), optional: true };
    added += 1;
  }
}
for (const entry of Object.values(lock.packages)) delete entry.resolved;
const root = lock.packages[""];
const sorted = Object.keys(lock.packages)
  .filter((path) => path !== "")
  .sort();
lock.packages = { "": root, ...Object.fromEntries(sorted.map((path) => [path, lock.packages[path]])) };
writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: ${added} optional entries added`);
