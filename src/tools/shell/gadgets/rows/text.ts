/** Gadgets of programs that search, compare and change text. */
import { edits, type Gadget, loads, runs, starts } from "./gadget.ts";

/** Search, comparison, records. The scripts of `sed` and `awk` are read in `scripts.ts`. */
export const TEXT: readonly Gadget[] = [
  runs("awk gawk mawk nawk original-awk goawk frawk", "gawk(1): its files may start programs", {
    options: "-f --file -E --exec",
  }),
  loads("gawk awk mawk nawk", "gawk(1)", { options: "-l --load -i --include -D --debug -W" }),
  runs("gawk awk", "gawk(1)", { options: "-e --source" }),
  runs("sed gsed ssed", "sed(1): its files may start programs", { options: "-f --file" }),
  starts("rg", "rg(1)", { options: "--pre --hostname-bin" }),
  starts("ack ag pt sift", "ack(1), ag(1)", { options: "--pager --ackrc --command -P" }),
  // Its project's `.ackrc` may name neither a pager nor an output, which perl would run.
  runs("ack", "ack(1)", { options: "--output" }),
  starts("ugrep ug ugrep+", "ugrep(1)", { options: "--filter --pager --view --config -Q" }),
  starts("rga rga-preproc", "rga(1)", { options: "--rga-adapters --rga-config-file" }),
  starts("sdiff diff3 merge", "sdiff(1)", { options: "--diff-program" }),
  edits("sdiff", "sdiff(1)", { options: "-o --output" }),
  starts("patch gpatch", "patch(1)", { options: "-e --ed -g --get" }),
  starts("difft difftastic meld kdiff3 kompare opendiff bcompare wdiff colordiff", "wdiff(1)", {
    options: "-t --terminal -2 --diff-input --difftype",
  }),
  starts("mlr miller", "mlr(1)", {
    words: /\b(?:system|exec|hostname|os_type)\s*\(|\b(?:tee|print|emit\w*|dump)\b.*[|>]/,
    options: "--prepipe --prepipex --load --mload --prepipe-gunzip -s",
    by: "system()",
  }),
  starts("yq", "yq(1)", {
    options: "--security-enable-system-operator --from-file",
    words: /\bsystem\b/,
    by: "system",
  }),
  loads("xmlstarlet xmllint", "xmllint(1)", { options: "--load-trace --shell" }),
  starts("jc", "jc(1)", { operands: "-p", by: "a command" }),
  edits("dasel visidata vd q textql", "vd(1)", { options: "-p --play --config -c" }),
  edits("vd visidata", "vd(1)", { always: true, unless: "-b" }),
  starts("bc gbc", "bc(1)", { words: /\b(?:system|!)/, by: "!" }),
  loads("tree-sitter ast-grep sg semgrep comby codemod jscodeshift", "comby(1)", {
    options: "-r --require --parser-path --custom-metasyntax --parser --transform -t --interactive",
  }),
];
