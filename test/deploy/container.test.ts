// The container recipe is one that builders read, and leaves a container that is nobody's root.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { environmentIn, readRecipe, wordsOf } from "../support/container-recipe.ts";

const recipe = readRecipe(readFileSync("deploy/Containerfile", "utf8"));
const texts = (wanted: string) => recipe.filter(({ name }) => name === wanted).map(({ text }) => text);

test("every instruction is one that builders know, and the first names where it begins", () => {
  const known = ["FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "VOLUME", "ENTRYPOINT", "CMD"];
  expect(recipe.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  expect(recipe[0]).toEqual({ name: "FROM", text: "docker.io/library/node:24-bookworm-slim" });
});

test("it installs what contains commands, and the package without its install scripts", () => {
  const [system = "", own = ""] = texts("RUN");
  for (const name of ["bubblewrap", "git", "socat", "util-linux"]) expect(system.split(" ")).toContain(name);
  expect(own).toContain("npm install --global --ignore-scripts");
});

test("it runs as a user of its own, with state that only that user enters", () => {
  expect(texts("USER")).toEqual(["handrail"]);
  expect(texts("RUN").at(-1)).toContain("install -d -o handrail -g handrail -m 0700 /var/lib/handrail");
  expect(environmentIn(recipe)).toEqual({
    HANDRAIL_STATE_HOME: "/var/lib/handrail",
    HANDRAIL_CONFIG_HOME: "/etc/handrail",
    XDG_CACHE_HOME: "/var/cache",
  });
  expect([wordsOf(recipe, "ENTRYPOINT"), wordsOf(recipe, "CMD")]).toEqual([
    ["handrail"],
    ["mcp", "--workspace", "/workspace"],
  ]);
});

test("control: a line that is no instruction is found", () => {
  expect(() => readRecipe("FROM a\n&& b\n")).toThrow("`&& b` is no instruction");
});
