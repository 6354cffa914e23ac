// Which lines of `.npmrc` an installation obeys, which mean nothing to it, and which refuse it.
import { expect, test } from "vitest";
import type { Grants } from "../../../../src/tools/toolchain/install/installation.ts";
import { judgeNpmConfiguration } from "../../../../src/tools/toolchain/install/npm-configuration.ts";

const GRANTS: Grants = { registries: [{ host: "registry.npmjs.org", port: 443 }], isOwn: false, scripts: false };

function judged(text: string, grants = GRANTS): unknown {
  try {
    return judgeNpmConfiguration(text, grants);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

test.each([
  ["", {}],
  ["\n\n  \n", {}],
  ["# git=/workspace/evil.sh\n; git=/workspace/evil.sh", {}],
  ["\ufefffund=false", {}],
  ["fund=false\naudit = false\r\nsave-exact=true", {}],
  ["save-prefix=~\nprogress=false\nloglevel=warn\nupdate-notifier=false", {}],
  ["package-lock=true", {}],
  ["engine-strict", { npm_config_engine_strict: "true" }],
  [
    "engine-strict=true\nlegacy-peer-deps = true",
    { npm_config_engine_strict: "true", npm_config_legacy_peer_deps: "true" },
  ],
  ["legacy-peer-deps=true\nlegacy-peer-deps=false", { npm_config_legacy_peer_deps: "false" }],
  ["ignore-scripts=true\nomit=dev", { npm_config_ignore_scripts: "true", npm_config_omit: "dev" }],
  ["registry=https://registry.npmjs.org/\n@me:registry=https://registry.npmjs.org", {}],
])("%j is obeyed as %j", (text, environment) => {
  expect(judged(text)).toEqual(environment);
});

test.each([
  ...[
    "git=/workspace/evil.sh",
    "script-shell=/workspace/evil.sh",
    "shell=/workspace/evil.sh",
    "editor=/workspace/evil.sh",
    "viewer=/workspace/evil.sh",
  ],
  ...[
    "browser=/workspace/evil.sh",
    "node-options=--require /workspace/evil.js",
    "onload-script=/workspace/evil.js",
    "init-module=/workspace/evil.js",
  ],
  ...[
    "init.module=/workspace/evil.js",
    "nodedir=/workspace",
    "python=/workspace/evil.sh",
    "node-gyp=/workspace/evil.js",
    "prefix=/workspace",
  ],
  ...[
    "cache=/workspace/cache",
    "tmp=/workspace",
    "logs-dir=/workspace/.vscode",
    "globalconfig=/workspace/other",
    "userconfig=/workspace/other",
  ],
  ...[
    "https-proxy=http://evil.example",
    "proxy=http://evil.example",
    "noproxy=registry.npmjs.org",
    "local-address=10.0.0.1",
    "cafile=/workspace/ca",
  ],
  ...[
    "ca=x",
    "cert=x",
    "key=x",
    "strict-ssl=false",
    "before=2020-01-01",
    "package-lock=false",
    "ignore-scripts=false",
    "install-links=true",
  ],
  ...[
    "location=global",
    "global=true",
    "workspaces=false",
    "include=dev",
    "install-strategy=linked",
    "allow-git=all",
    "allow-scripts=x",
    "foreground-scripts=true",
  ],
  ...[
    "sign-git-commit=true",
    "scope=@evil",
    "tag=next",
    "replace-registry-host=always",
    "offline=true",
    "_auth=x",
    "_authToken=x",
    "otp=1",
  ],
  ...[
    "//registry.npmjs.org/:_authToken=x",
    "//registry.npmjs.org/:_authToken=\u0024{NPM_TOKEN}",
    "//evil.example/:tokenHelper=/workspace/evil.sh",
  ],
  ...[
    "GIT=/workspace/evil.sh",
    "Git=/x",
    "git =/x",
    '"git"=/x',
    "'git'=/x",
    "git[]=/x",
    "[git]",
    "[section]",
    "\u0024{X}=1",
    "\u00a0git=/x",
    "gi\\t=/x",
  ],
  ...[
    "fund=\u0024{EVIL}",
    "fund=maybe",
    "engine-strict=1",
    "omit=",
    "omit=dev,peer",
    "save-prefix=$(id)",
    "fund[]=false",
    "__proto__=x",
    "constructor=x",
    "toString",
  ],
  ...[
    "registry=https://evil.example/",
    "@me:registry=https://evil.example/",
    "registry=http://registry.npmjs.org/",
    "registry=//registry.npmjs.org/",
  ],
  ...[
    "registry=https://me:word@registry.npmjs.org/",
    "registry=https://registry.npmjs.org:8443/",
    "registry=https://registry.npmjs.org.evil.example/",
  ],
  ...[
    "registry=",
    "registry=\u0024{HOST}",
    "registry=https://registry.npmjs.org@evil.example/",
    "registry=file:///workspace",
    "Registry=https://registry.npmjs.org/",
  ],
])("%j refuses the installation", (line) => {
  for (const text of [line, `fund=false\n${line}\n`, `# harmless\r${line}`])
    expect(judged(text)).toMatch(/^`\.npmrc` .*; nothing was installed$/);
});

test("the refusal names the setting and its line, and never what it was set to", () => {
  expect(judged("fund=false\n//registry.npmjs.org/:_authToken=npm_0123456789")).toBe(
    "`.npmrc` sets `//registry.npmjs.org/:_authToken` in line 2, which no installation obeys here; nothing was installed",
  );
  expect(judged("x y z \u202e=1")).toBe(
    "`.npmrc` sets something that cannot be read in line 1, which no installation obeys here; nothing was installed",
  );
});

test("a registry that the operator named may be plain, and no other is granted beside it", () => {
  const own: Grants = { registries: [{ host: "npm.example.com", port: 4873 }], isOwn: true, scripts: false };
  expect(judged("registry=http://npm.example.com:4873/", own)).toEqual({});
  expect(judged("registry=https://registry.npmjs.org/", own)).toMatch(/which is no registry/);
});
