// The published package: its manifest, its files, and which of its dependencies it brings along.
//
// The manifest of the checkout names the sources; this one names what was compiled from them. Both share what users
// read, and the versions of what is installed beside the package.

/**
 * Packages that are there as they are: their types are public, they carry a binary, another program runs them, or their
 * text cannot be compiled in (`oneByteText`).
 * Others are compiled in.
 */
const IMPORTED = [
  "@ast-grep/napi",
  "@bufbuild/protobuf",
  "@bytecodealliance/jco-transpile",
  "@bytecodealliance/preview2-shim",
  "@cedar-policy/cedar-wasm",
  "@decimalturn/toml-patch",
  "@napi-rs/blake-hash",
  "@napi-rs/keyring",
  "better-sqlite3",
  "koffi",
  "rregex",
  "typescript-language-server",
  "zod",
];

/** Parsers of languages, which weigh much: they are not part of an installation. */
const PARSERS = "@ast-grep/lang-";

/**
 * Packages that are brought along inside of the package, with the files that a Linux machine needs: as published, one
 * has the sources of SQLite and the binaries of three systems, another the same engine three times, and the transpiler
 * of components depends on optimizers of more than 100 MB that nothing here loads.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const BROUGHT = {
  "@bytecodealliance/jco-transpile": ["vendor/js-component-bindgen-component*", "LICENSE", "README.md"],
  "@bytecodealliance/preview2-shim": [
    "dist/nodejs/{cli,filesystem,io,random}.js",
    "dist/io/{calls,worker-io,worker-thread.bundle}.js",
    "dist/synckit/index.js",
    "LICENSE",
    "README.md",
  ],
  "@cedar-policy/cedar-wasm": ["nodejs/*", "README.md"],
  "better-sqlite3": ["lib/**", "prebuilds/linux*", "LICENSE", "README.md"],
  // one file, which runs in the sandbox; the map beside it weighs more
  "typescript-language-server": ["lib/cli.mjs", "LICENSE", "README.md"],
};

/** Files of the checkout that are in the package as they are. */
export const TAKEN = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "deploy/**",
  "docs/**/*.md",
  "examples/components/build.mjs",
  "examples/components/*/*.js",
  "examples/service/**",
  "presets/*",
  "proto/**/*.proto",
  "wit/*.wit",
];

/** Where the package has what is made for it. */
export const MADE = {
  code: "lib",
  command: "lib/handrail.js",
  library: "lib/index.js",
  types: "lib/index.d.ts",
  descriptor: "proto/handrail.binpb",
  manual: "share/man/man1/handrail.1",
  completions: "share/completions",
  licences: "THIRD-PARTY-LICENSES.txt",
};

/**
 * Whether a package is compiled in.
 * @param {string} id what a module imports
 */
export function isTakenIn(id) {
  return (
    !id.startsWith("node:") &&
    !id.startsWith(PARSERS) &&
    !IMPORTED.some((name) => id === name || id.startsWith(`${name}/`))
  );
}

/**
 * The manifest of the package.
 * @param {Record<string, any>} checkout the manifest of the checkout
 * @param {(name: string) => string} installed the version of an installed package
 */
export function manifestFor(checkout, installed) {
  const { name, version, description, license, type, engines, os, cpu, keywords } = checkout;
  const wanted = (/** @type {string} */ dependency) =>
    dependency in BROUGHT ? installed(dependency) : checkout["dependencies"][dependency];
  return {
    name,
    version,
    description,
    keywords,
    license,
    type,
    engines,
    os,
    cpu,
    bin: { handrail: MADE.command },
    man: [`./${MADE.manual}`],
    main: `./${MADE.library}`,
    types: `./${MADE.types}`,
    exports: {
      ".": { types: `./${MADE.types}`, default: `./${MADE.library}` },
      "./package.json": "./package.json",
    },
    files: ["lib", "proto", "share", MADE.licences, ...new Set(TAKEN.map((pattern) => pattern.split("/*")[0]))],
    dependencies: {
      // The declarations name its types. Of any version, so that there is one of them: that of the user.
      "@types/node": "*",
      ...Object.fromEntries(IMPORTED.map((dependency) => [dependency, wanted(dependency)])),
    },
    // Parsers weigh three times as much as all the rest: who wants one installs it beside the package.
    peerDependencies: checkout["optionalDependencies"],
    peerDependenciesMeta: Object.fromEntries(
      Object.keys(checkout["optionalDependencies"]).map((parser) => [parser, { optional: true }]),
    ),
    bundleDependencies: Object.keys(BROUGHT),
  };
}
