/** Formats of package registries and of the files that hold their logins. */
import { hasGithubChecksum } from "../kinds/checksum.ts";
import { entropyOf, isReference } from "../kinds/entropy.ts";
import { type Rule, token, tokens } from "../kinds/rule.ts";

const real = (secret: string) =>
  isReference(secret) || /^[A-Z]+\d?$/.test(secret) || entropyOf(secret) < 2.5 ? undefined : "definite";

/** Rules for package registries. */
export const PACKAGE_RULES: readonly Rule[] = [
  token("npm-token", "an npm access token", {
    prefix: "npm_",
    body: "[A-Za-z0-9]{36}(?![A-Za-z0-9])",
    sample: "{checked}",
    check: (secret) => (hasGithubChecksum(secret.slice(4)) ? "definite" : "probable"),
  }),
  {
    id: "npmrc-auth",
    kind: "definite",
    title: "a login in an npm configuration",
    keywords: [":_authToken", ":_auth", ":_password", "_auth=", "_auth ", "_authToken"],
    expression: ':?_(?:authToken|auth|password)\\s{0,3}=\\s{0,3}"?([A-Za-z0-9+/=_.-]{8,512})',
    caseInsensitive: true,
    check: real,
    examples: {
      positive: ["//registry.example.org/:_authToken={uuid}", "//r.example.org/:_password={b20}==\n", "_auth = {b32}"],
      negative: ["//registry.example.org/:_authToken=\x24{NPM_TOKEN}", ":_authToken=xxxxxxxxxx", "_auth = $AUTH"],
    },
  },
  token("pypi-token", "a PyPI upload token", {
    prefix: "pypi-AgE",
    body: "[A-Za-z0-9_-]{50,500}",
    sample: "IcHlwaS5vcmc{u120}",
  }),
  token("rubygems-key", "a RubyGems key", { prefix: "rubygems_", body: "[0-9a-f]{48}", sample: "{h48}" }),
  token("crates-token", "a crates.io token", {
    prefix: "cio",
    body: "[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    sample: "{a32}",
    left: "token",
  }),
  token("nuget-key", "a NuGet key", {
    prefix: "oy2",
    body: "[a-z0-9]{43}(?![A-Za-z0-9])",
    sample: "{l43}",
    left: "token",
  }),
  tokens("docker-token", "a Docker Hub token", {
    prefixes: ["dckr_pat_", "dckr_oat_"],
    body: "[A-Za-z0-9_-]{27,40}",
    samples: ["dckr_pat_{u27}", "dckr_oat_{u32}"],
  }),
  {
    id: "docker-auth",
    kind: "definite",
    title: "a registry login in a Docker configuration",
    keywords: ['"auth"', "auth\\"],
    expression: '"?auth\\\\{0,3}"\\s{0,4}:\\s{0,4}\\\\{0,3}"([A-Za-z0-9+/]{10,2048}={0,2})\\\\{0,3}"',
    left: "any",
    check: (secret) =>
      /^[\x21-\x7e]{1,255}:[\x20-\x7e]{4,}/.test(Buffer.from(secret, "base64").toString("latin1"))
        ? "definite"
        : undefined,
    examples: {
      positive: [`{"auths":{"r.example.org":{"auth":"${Buffer.from("builder:kT8vQ2mZp4").toString("base64")}"}}}`],
      negative: ['"auth": "required-for-all"', '"auth":"none"', '"auth": "YmFzZTY0IHRleHQ="'],
    },
  },
  tokens("clojars-token", "a Clojars token", {
    prefixes: ["CLOJARS_"],
    body: "[0-9a-z]{60}",
    samples: ["CLOJARS_{l60}"],
  }),
  tokens("packagist-token", "a Packagist token", {
    prefixes: ["packagist_ack_", "packagist_oack_", "packagist_orw_", "packagist_ort_", "packagist_uut_"],
    body: "[0-9a-f]{68,80}",
    samples: ["packagist_uut_{h68}"],
  }),
  token("jfrog-key", "a JFrog API key", { prefix: "AKCp", body: "[A-Za-z0-9]{60,80}(?![A-Za-z0-9])", sample: "{a69}" }),
  token("jfrog-reference-token", "a JFrog reference token", {
    prefix: "cmVmdGtu",
    body: "[A-Za-z0-9]{56}(?![A-Za-z0-9])",
    sample: "{a56}",
  }),
  {
    id: "netrc-password",
    kind: "definite",
    title: "a password in a .netrc file",
    keywords: ["machine "],
    expression:
      'machine\\s{1,3}[^\\s]{1,255}\\s{1,8}login\\s{1,3}[^\\s]{1,128}\\s{1,8}password\\s{1,3}((?!\\{self)[^\\s"\\\\]{4,255})',
    check: (secret) => (isReference(secret) || /^(?:password|secret|<)/i.test(secret) ? undefined : "definite"),
    examples: {
      positive: ["machine git.example.org login deploy password {a18}", "machine h\n  login d\n  password {a12}\n"],
      negative: ["machine h login d password $PASSWORD", "a machine login needs a password"],
    },
  },
  {
    id: "pip-index-login",
    kind: "definite",
    title: "a login in the address of a package index",
    keywords: ["index-url"],
    expression: "index-url[\\s=]{1,4}https?://[^\\s:/@]{1,128}:([^\\s:/@]{6,255})@",
    left: "any",
    check: real,
    examples: {
      positive: ["--extra-index-url https://ci:{a20}@pypi.example.org/simple", "index-url = https://ci:{a20}@h/simple"],
      negative: ["index-url = https://pypi.org/simple", "--index-url https://u:$PASSWORD@h/"],
    },
  },
];
