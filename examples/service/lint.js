// The service's linter: a few rules that need nothing installed. Looks at the files and directories it is given, or at
// everything.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const RULES = [
  { expression: /\bvar\b/, message: "declare with const or let" },
  { expression: /[^=!]==[^=]|!=[^=]/, message: "compare with === or !==" },
  { expression: /\bconsole\.log\b/, message: "a service does not print" },
  { expression: /[ \t]+$/, message: "blanks at the end of the line" },
];

function filesIn(path) {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path).flatMap((name) => filesIn(join(path, name)));
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : ["src", "test"];
let problems = 0;
for (const path of wanted.flatMap(filesIn).filter((name) => name.endsWith(".js"))) {
  for (const [index, line] of readFileSync(path, "utf8").split("\n").entries()) {
    for (const { expression, message } of RULES) {
      if (!expression.test(line)) continue;
      problems += 1;
      process.stdout.write(`${path}:${index + 1}: error: ${message}\n`);
    }
  }
}
process.stdout.write(problems === 0 ? "no problems\n" : `${problems} problems\n`);
process.exitCode = problems === 0 ? 0 : 1;
