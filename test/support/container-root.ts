/**
 * The file system that the container recipe makes, without a container engine: this machine's `/usr` stands for the
 * base image and its packages, everything else is made by running the recipe's own instructions. Needs root.
 */
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { environmentIn, readRecipe, wordsOf } from "./container-recipe.ts";
import type { Elsewhere, Ended } from "./installed-package.ts";

/** Of this machine's settings, those that an image has too, and the way to the registry. */
const SETTINGS = "alternatives ca-certificates.conf ld.so.cache login.defs nsswitch.conf resolv.conf ssl hosts";
/** Users and groups of an image, as far as the recipe needs them. */
const USERS = { passwd: "root:x:0:0:root:/root:/bin/sh\n", group: "root:x:0:\n", shadow: "", gshadow: "" };

/** Enters the root with `pivot_root`, as container engines do, and runs a program there. */
const ENTER = `set -e
root=$1; shift
mount --bind "$root" "$root"; cd "$root"
mount --rbind /usr usr; mount --bind "$root/local" usr/local
mount --rbind /dev dev; mount -t proc proc proc
pivot_root . old; umount -l old
exec "$@"`;

/** A container made by the recipe, which runs as often as it is wanted. */
export class ContainerRoot {
  readonly root: string;
  readonly #place: Elsewhere;
  readonly #recipe = readRecipe(readFileSync("deploy/Containerfile", "utf8"));

  constructor(place: Elsewhere) {
    this.#place = place;
    this.root = join(place.base, "root");
    for (const name of "usr local/bin dev proc old tmp root etc var workspace".split(" "))
      mkdirSync(join(this.root, name), { recursive: true });
    chmodSync(join(this.root, "tmp"), 0o1777);
    for (const name of ["bin", "sbin", "lib", "lib64"].filter((link) => existsSync(`/${link}`)))
      cpSync(`/${name}`, join(this.root, name), { recursive: true, verbatimSymlinks: true });
    for (const name of SETTINGS.split(" ").filter((file) => existsSync(`/etc/${file}`)))
      cpSync(`/etc/${name}`, join(this.root, "etc", name), { recursive: true, verbatimSymlinks: true });
    for (const [name, text] of Object.entries(USERS)) writeFileSync(join(this.root, "etc", name), text);
    copyFileSync(process.execPath, join(this.root, "local/bin/node"));
  }

  /** Follows the recipe: puts the package in, runs what comes after the base's packages. @throws if it fails */
  async build(tarball: string): Promise<void> {
    copyFileSync(tarball, join(this.root, "tmp", basename(tarball)));
    for (const { text } of this.#recipe.filter(({ name }) => name === "RUN").slice(1)) {
      const { code, stderr } = await this.#enter(["sh", "-c", text], "");
      if (code !== 0) throw new Error(`\`RUN ${text}\`: ${stderr}`);
    }
  }

  /** Runs the container: its command, or other arguments of its entry point. */
  run(input: string, args: readonly string[] = wordsOf(this.#recipe, "CMD")): Promise<Ended> {
    const user = this.#recipe.findLast(({ name }) => name === "USER")?.text ?? "root";
    const become = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all"];
    const variables = Object.entries(environmentIn(this.#recipe)).map(([name, value]) => `${name}=${value}`);
    const inside = ["sh", "-c", 'cd /workspace && exec "$@"', "sh", ...wordsOf(this.#recipe, "ENTRYPOINT"), ...args];
    return this.#enter([...become, "env", ...variables, ...inside], input);
  }

  #enter(words: readonly string[], input: string): Promise<Ended> {
    const apart = ["unshare", "--mount", "--pid", "--fork", "--propagation", "private", "--", "sh", "-c", ENTER, "sh"];
    const clean = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"];
    const registry = Object.entries(this.#place.registry).map(([name, value]) => `${name}=${value}`);
    return this.#place.run([...apart, this.root, ...clean, ...registry, ...words], { input });
  }
}
