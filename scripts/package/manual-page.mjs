// The manual page, handrail(1), from what `--help` says of each command.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { shownCommands } from "../command-reference.mjs";

/** Files and variables that every command knows; the guide says more. */
const FILES = [
  ["$HANDRAIL_CONFIG_HOME, $XDG_CONFIG_HOME/handrail", "the operator's directory: handrail.yaml and policy/*.cedar"],
  ["$HANDRAIL_STATE_HOME, $XDG_STATE_HOME/handrail", "state: sessions, approvals, stored content and the ledger"],
  ["$XDG_CACHE_HOME/handrail/compiled", "compiled code, which may be removed at any time"],
];

/**
 * The page as roff.
 *
 * @param {string} root the package's
 * @returns {Promise<string>}
 */
export async function manualPage(root) {
  const { version, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const commands = await shownCommands();
  return `${[
    `.TH HANDRAIL 1 "" "handrail ${escaped(version)}" "User Commands"`,
    ".SH NAME",
    `handrail \\- ${escaped(lowerFirst(description))}`,
    ".SH SYNOPSIS",
    ".B handrail",
    ".I command",
    "[\\fIoptions\\fR]",
    ".SH DESCRIPTION",
    roffText(
      "Handrail is a tool kernel: an agent asks for a tool call, and Handrail validates it, checks the session, its lease and the policy, asks a person where it must, runs the tool in a sandbox, hides secrets, records evidence and answers exactly once. What it cannot understand, check or record it refuses.",
    ),
    ".SH COMMANDS",
    ...commands.map(section),
    ".SH FILES",
    ...FILES.flatMap(([path = "", meaning = ""]) => [".TP", `\\fB${escaped(path)}\\fR`, roffText(meaning)]),
    ".SH EXIT STATUS",
    roffText("0 for success; other codes are listed with the commands that answer them."),
  ].join("\n")}\n`;
}

/** @param {import("../command-reference.mjs").Shown} command */
function section({ name, description, usage, options, after }) {
  return [
    `.SS ${escaped(name)}`,
    ...(usage === "" ? [] : [`\\fB${escaped(usage)}\\fR`, ".PP"]),
    roffText(`${description}.`),
    ...options.flatMap(([flags, meaning]) => [".TP", `\\fB${escaped(flags)}\\fR`, roffText(meaning)]),
    ...(after === "" ? [] : [".PP", ".nf", roffText(after), ".fi"]),
  ].join("\n");
}

/**
 * Lines of text. One that begins with a dot or an apostrophe would be a request.
 * @param {string} lines
 */
export function roffText(lines) {
  return escaped(lines).replaceAll(/^(?=[.'])/gm, "\\&");
}

/** @param {string} plain */
function escaped(plain) {
  return plain.replaceAll("\\", "\\e").replaceAll("-", "\\-");
}

/** @param {string} sentence */
function lowerFirst(sentence) {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1);
}
