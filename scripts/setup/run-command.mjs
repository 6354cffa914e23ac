// Runs one command for the set-up: no stdin, output kept (bounded) for the error message, ended after a time limit.
// It trusts the command's exit code and nothing that it prints.
import { spawn } from "node:child_process";

/** Output kept per command, in bytes: enough to find the reason of a failure, whatever the command prints. */
const KEPT_OUTPUT_BYTES_MAX = 64 * 1024;
/** A cold install on a slow line takes minutes; after this something hangs. */
const TIME_LIMIT_MS = 15 * 60 * 1000;

/** Whoever waits sees every so often that something happens. */
const WAIT_SAID_EVERY_MS = 3000;

/**
 * Is called every few seconds while a command runs.
 * @typedef {(seconds: number) => void} OnWait
 */

/**
 * Runs `command` to its end.
 *
 * @param {string} command name or path of the program
 * @param {string[]} args its arguments, passed as they are (no shell)
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, timeLimitMs?: number, onWait?: OnWait | undefined}} [options]
 * @returns {Promise<{code: number, output: string}>} `code` is 127 when the program is not there, 124 after the time
 * limit
 */
export function runCommand(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let expired = false;
    const keep = (/** @type {Buffer} */ chunk) => {
      output = (output + chunk.toString("utf8")).slice(-KEPT_OUTPUT_BYTES_MAX);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    const timer = setTimeout(() => {
      expired = true;
      child.kill("SIGKILL");
    }, options.timeLimitMs ?? TIME_LIMIT_MS);
    const started = Date.now();
    const ticker = setInterval(() => options.onWait?.(Math.round((Date.now() - started) / 1000)), WAIT_SAID_EVERY_MS);
    const passOn = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
    process.on("SIGTERM", passOn);
    process.on("SIGINT", passOn);
    const settle = (/** @type {number} */ code) => {
      clearTimeout(timer);
      clearInterval(ticker);
      process.off("SIGTERM", passOn);
      process.off("SIGINT", passOn);
      resolve({ code, output });
    };
    child.on("error", (error) => {
      output += error.message;
      settle(127);
    });
    child.on("close", (code) => settle(expired ? 124 : (code ?? 128)));
  });
}

/**
 * @param {string} output what a command printed
 * @returns {string} its last lines, indented, for an error message
 */
export function lastLines(output) {
  return output
    .trimEnd()
    .split("\n")
    .slice(-12)
    .map((line) => `    ${line}`)
    .join("\n");
}
