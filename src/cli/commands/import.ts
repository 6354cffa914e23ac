/** `handrail import`: turns another system's configuration into files of the operator's, and says what it left out. */
import type { Command } from "commander";
import { operatorPath } from "../../server/operator/operator-directory.ts";
import { print, printJson, visible } from "../terminal/output.ts";

interface ImportFlags {
  readonly write?: boolean;
  readonly json?: boolean;
}

/** Adds `handrail import`. */
export function addImportCommand(program: Command): void {
  program
    .command("import <system> <path>")
    .description(
      "turn Brio's TOML, Flow's config.json or serverd's tool specs and policy into configuration and policies",
    )
    .option("--write", "write the files into the operator's directory; none is overwritten")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Nothing that is imported allows anything: policies only forbid, modes only narrow. What could not be carried over is
listed.

Examples:
  handrail import brio brio.toml
  handrail import flow .flow --write
  handrail import serverd runtime/tools --write`,
    )
    .action(async (system: string, path: string, flags: ImportFlags) => {
      const { importConfiguration, writeImported } = await import("../../server/imports/import.ts");
      const imported = await importConfiguration(system, path);
      const directory = operatorPath(process.env);
      if (flags.write === true) await writeImported(directory, imported);
      const written = flags.write === true;
      if (flags.json) return printJson({ ...imported, directory, written });
      for (const { path: file, text } of imported.files) {
        print(written ? `wrote ${visible(file)}` : `${visible(file)}:`);
        if (!written) for (const line of text.trimEnd().split("\n")) print(`  ${visible(line)}`);
      }
      if (imported.left.length > 0) print("\nnot carried over:");
      for (const { where, why } of imported.left) print(visible(`  ${where}: ${why}`));
      if (!written) print(`\nnothing was written; --write writes it to ${visible(directory)}`);
    });
}
