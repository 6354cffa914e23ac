/** Gadgets of programs that search, compare and change text. */
import type { Gadget } from "./gadget.ts";

/** Search, comparison, records. The scripts of `sed` and `awk` are read in `scripts.ts`. */
export const TEXT: readonly Gadget[] = [
  {
    of: "awk gawk mawk nawk original-awk goawk frawk",
    does: "runs",
    options: "-f --file -E --exec",
    source: "gawk(1): its files may start programs",
  },
  { of: "gawk awk mawk nawk", does: "loads", options: "-l --load -i --include -D --debug -W", source: "gawk(1)" },
  { of: "gawk awk", does: "runs", options: "-e --source", source: "gawk(1)" },
  { of: "sed gsed ssed", does: "runs", options: "-f --file", source: "sed(1): its files may start programs" },
  { of: "rg", does: "starts", options: "--pre --hostname-bin", source: "rg(1)" },
  { of: "ack ag pt sift", does: "starts", options: "--pager --ackrc --command -P", source: "ack(1), ag(1)" },
  // Its project's `.ackrc` may name neither a pager nor an output, which perl would run.
  { of: "ack", does: "runs", options: "--output", source: "ack(1)" },
  { of: "ugrep ug ugrep+", does: "starts", options: "--filter --pager --view --config -Q", source: "ugrep(1)" },
  { of: "rga rga-preproc", does: "starts", options: "--rga-adapters --rga-config-file", source: "rga(1)" },
  { of: "sdiff diff3 merge", does: "starts", options: "--diff-program", source: "sdiff(1)" },
  { of: "sdiff", does: "edits", options: "-o --output", source: "sdiff(1)" },
  { of: "patch gpatch", does: "starts", options: "-e --ed -g --get", source: "patch(1)" },
  {
    of: "difft difftastic meld kdiff3 kompare opendiff bcompare wdiff colordiff",
    does: "starts",
    options: "-t --terminal -2 --diff-input --difftype",
    source: "wdiff(1)",
  },
  {
    of: "mlr miller",
    does: "starts",
    words: /\b(?:system|exec|hostname|os_type)\s*\(|\b(?:tee|print|emit\w*|dump)\b.*[|>]/,
    options: "--prepipe --prepipex --load --mload --prepipe-gunzip -s",
    by: "system()",
    source: "mlr(1)",
  },
  {
    of: "yq",
    does: "starts",
    options: "--security-enable-system-operator --from-file",
    words: /\bsystem\b/,
    by: "system",
    source: "yq(1)",
  },
  { of: "xmlstarlet xmllint", does: "loads", options: "--load-trace --shell", source: "xmllint(1)" },
  { of: "jc", does: "starts", operands: "-p", by: "a command", source: "jc(1)" },
  { of: "dasel visidata vd q textql", does: "edits", options: "-p --play --config -c", source: "vd(1)" },
  { of: "vd visidata", does: "edits", always: true, unless: "-b", source: "vd(1)" },
  { of: "bc gbc", does: "starts", words: /\b(?:system|!)/, by: "!", source: "bc(1)" },
  {
    of: "tree-sitter ast-grep sg semgrep comby codemod jscodeshift",
    does: "loads",
    options: "-r --require --parser-path --custom-metasyntax --parser --transform -t --interactive",
    source: "comby(1)",
  },
];
