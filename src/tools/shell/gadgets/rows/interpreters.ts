/** Gadgets of interpreters that take a program as an argument or read it. Files that they run are plain use. */
import { type Gadget, loads, runs, starts } from "./gadget.ts";

const PYTHONS =
  "timeit pdb cProfile profile trace runpy code idlelib pydoc antigravity webbrowser pickletools asyncio pty doctest";

/** Interpreters beside those that `programs.ts` reads. */
export const INTERPRETERS: readonly Gadget[] = [
  runs(PYTHONS, "python(1): `-m`", { always: true }),
  loads("python pypy", "python(1)", { words: /^-W.*:.*:.*\./, by: "-W with a class" }),
  loads("node nodejs", "node(1)", {
    options:
      "-r --require --import --loader --experimental-loader --test-reporter --test-global-setup --openssl-config --snapshot-blob --build-snapshot --experimental-config-file --experimental-default-config-file --run",
  }),
  runs("node nodejs", "node(1)", { options: "-i --interactive --inspect-brk --experimental-sea-config" }),
  loads("bun", "bun --help", { options: "-r --preload --require --import", verbs: "create, repl, init" }),
  runs("deno", "deno help", {
    verbs: "eval, repl, install, jupyter, x",
    options: "--preload --require --unsafely-ignore-certificate-errors",
  }),
  loads("tsx ts-node babel-node coffee swc-node esno jiti", "ts-node --help", {
    options: "-r --require --import --loader -e --eval -p --print -C --compiler",
  }),
  loads("perl", "perlrun(1)", { words: /^-[a-zA-Z0-9]*[dmMx]/, by: "-m or -d" }),
  loads("ruby jruby", "ruby(1)", { options: "-r -x" }),
  loads("php", "php(1)", { options: "-z --zend-extension -c --php-ini -d --define -a --interactive" }),
  runs(
    "irb pry byebug rdbg ipython bpython ptpython jupyter jupyter-lab jupyter-notebook iex ghci jshell jjs utop jython scala-cli spring",
    "irb(1), ipython(1)",
    { always: true },
  ),
  runs("rake rails bin/rails", "rake(1)", {
    options: "-e -p -E --execute --execute-print --execute-continue -r --require -f --rakefile -R --rakelibdir -I",
  }),
  runs("rails", "rails --help", { verbs: "runner, r, console, c, dbconsole, db, new, app:template" }),
  loads("lua luajit tarantool", "lua(1)", { options: "-l -e -i" }),
  runs("guile", "guile(1)", { options: "-c -e -l -x --listen" }),
  runs("julia", "julia(1)", { options: "-e --eval -E --print -L --load -J --sysimage -i" }),
  runs("R Rscript", "R(1)", { options: "-e --eval -f --file -g" }),
  runs("octave octave-cli matlab scilab", "octave(1)", { options: "--eval -batch -r -e", input: true }),
  runs("sbcl clisp ecl ccl gcl abcl", "sbcl(1), clisp(1)", {
    options: "--eval --load -x -eval -load -i -e -l --script",
    input: true,
  }),
  runs("racket gsi csi chicken gosh chez scheme mit-scheme gambit", "racket(1)", {
    options: "-e --eval -r -l -f --require -load --load",
    input: true,
  }),
  runs("clojure clj bb lumo planck joker", "clj(1)", {
    options: "-e --eval -i --init -M -X -T -A -m --main -x -f",
    input: true,
  }),
  runs("emacs-script newlisp gforth pforth", "gforth(1)", { options: "-e --evaluate", input: true, operands: "-e" }),
  runs("ocaml ocamlrun rlwrap-ocaml", "ocaml(1)", { options: "-e -init", input: true }),
  runs("ghc runghc runhaskell stack cabal", "ghc(1), cabal(1)", {
    options: "-e -pgmF -pgmP -pgmL -pgma -pgmc -fplugin --with-ghc --with-compiler",
    words: /^-(?:pgm|fplugin)/,
    verbs: "exec, repl, ghci, runghc, script, hoogle",
    by: "-pgm",
  }),
  runs("erl escript rebar3 gleam", "erl(1)", {
    options: "-eval -s -run -e -config -args_file -pa",
    verbs: "shell, as",
    input: true,
  }),
  runs("elixir mix", "elixir(1), mix(1)", {
    options: "-e --eval -r -pr -pa -S",
    verbs: "run, cmd, eval, do, archive.install, escript.install, local",
  }),
  runs("raku swipl yap gprolog scryer-prolog", "swipl(1)", { options: "-e -g -t -s -M -I -l --goal", input: true }),
  runs("crystal nim dart zig v odin", "crystal(1), nim(1)", {
    verbs: "eval, e, run, secret, repl, i, tool, pub global",
    options: "--eval -e --cc --passL",
  }),
  runs("groovy groovysh kotlin kotlinc scala amm jrunscript jython", "groovy(1)", {
    options: "-e -eval -script -f",
    input: true,
  }),
  runs("tclsh wish expect expectk jimsh", "expect(1)", { options: "-c -b -D", input: true }),
  starts(
    "gdb cgdb gdb-multiarch gdbtui lldb gdbserver pwndbg r2 radare2 rizin edb ghidra scanmem bpftrace stap bcc ddd crash jtag",
    "gdb(1)",
    { always: true },
  ),
  starts("dc", "dc(1)", { words: /!(?![<=>])/, input: /!(?![<=>])/, by: "!" }),
  runs("dc", "dc(1)", { options: "-f --file -I -i", operands: "-e --expression -f --file", by: "a file" }),
  runs(
    "slsh gst qjs quickjs mujs duk hermes d8 rhino nashorn mruby micropython pike rexx regina nush yash posh sash rc es",
    "each interpreter's manual",
    { options: "-e -c --eval --command -C", input: true },
  ),
  runs("osascript", "osascript(1)", { always: true }),
  runs("prename perl-rename file-rename", "rename(1p)", { always: true }),
  runs("rename", "rename(1p)", {
    words: /^(?!-)(?!s\/[\w.\- ]*\/[\w.\- ]*\/g?$).*[^\w.\-/ *?]|^s\/.*\/\w*e/,
    options: "-e --expr -E",
    by: "an expression",
  }),
];
