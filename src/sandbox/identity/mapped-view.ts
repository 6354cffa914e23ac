/**
 * Opens a view of a workspace in which its owner's files belong to the sandbox's user.
 *
 * A kernel that runs as root must not run commands as root, and never changes whose files they are.
 *
 * A process of its own holds the view in a mount namespace of its own. So the machine's file system stays as it is, and
 * the view is gone with the process, however the kernel ends.
 *
 * INVARIANT: only root's or the workspace owner's own files appear with another owner. Everybody else's belong to
 * nobody there.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ToolFailure } from "../../model/outcome/failure.ts";
import { ownProgram } from "../../names/own-program.ts";
import { SANDBOX_VIEW_MS } from "../layers/held-overlay.ts";

const HOLDER = fileURLToPath(ownProgram(import.meta.url, "./view-holder.ts"));

/** A held view. */
export interface MappedView {
  /** What is put before a program so that it sees the view, as the sandbox's user. */
  readonly prefix: readonly string[];
  /** What is put before a program of root's that is to see it. */
  readonly enter: readonly string[];
  /**
   * Where each source stands in the view, in the order in which they were given: the mapped ones, then those that are
   * only shown.
   */
  readonly paths: readonly string[];
  /** Whether it is still held. */
  readonly isHeld: () => boolean;
  readonly close: () => void;
}

/** Who owns files outside, and who they belong to in the view. */
export interface Mapping {
  readonly ownerId: number;
  readonly groupId: number;
  readonly userId: number;
}

/**
 * Opens a view of `sources`, absolute directories.
 * @param shown directories and files that are seen in it as they are, because the user could not come to them by their
 * own paths
 * @throws ToolFailure SANDBOX_UNAVAILABLE when the machine cannot (Linux before 5.12, a file system without mapped
 * mounts, no right to mount)
 */
export async function openMappedView(
  sources: readonly string[],
  shown: readonly string[],
  mapping: Mapping,
): Promise<MappedView> {
  const child = spawn(
    "unshare",
    [
      "--mount",
      "--propagation",
      "private",
      "--",
      process.execPath,
      "--disable-warning=ExperimentalWarning",
      HOLDER,
      JSON.stringify({ sources, shown, ...mapping }),
    ],
    { cwd: "/", env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" }, stdio: ["pipe", "pipe", "pipe"], detached: true },
  ); // in a session of its own: what a terminal sends ends the kernel, which ends it
  child.stdin?.on("error", () => undefined); // it ended; whoever uses the view next is told
  const paths = await whatItSays(child);
  const { userId } = mapping;
  const user = String(userId);
  child.unref();
  const enter = ["nsenter", `--mount=/proc/${child.pid}/ns/mnt`];
  return {
    prefix: [...enter, "--setuid", user, "--setgid", user, "--"],
    enter: [...enter, "--"],
    paths,
    isHeld: () => child.exitCode === null && child.signalCode === null,
    close: () => void child.kill("SIGKILL"),
  };
}

/** The first line of the holder says where the view stands; anything else is why there is none. */
function whatItSays(child: ChildProcess): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let said = "";
    let complained = "";
    const fail = (cause?: unknown): void => {
      clearTimeout(late);
      child.kill("SIGKILL");
      reject(
        new ToolFailure(
          "SANDBOX_UNAVAILABLE",
          `the workspace cannot be shown to another user (${
            complained
              .replace(/[^\x20-\x7e]+/g, " ")
              .trim()
              .slice(0, 200) || "no answer"
          }); the command did not run`,
          {
            suggestion:
              "ask the operator to run the kernel as the user who owns the workspace, or to look at `handrail doctor`",
            cause,
          },
        ),
      );
    };
    const late = setTimeout(() => fail(), SANDBOX_VIEW_MS);
    child.once("error", fail);
    child.once("exit", () => fail());
    child.stderr?.on("data", (data: Buffer) => {
      complained = (complained + data.toString("latin1")).slice(0, 2000);
    });
    child.stdout?.on("data", (data: Buffer) => {
      said += data.toString("utf8");
      if (!said.includes("\n")) return;
      clearTimeout(late);
      child.removeAllListeners("exit");
      resolve((JSON.parse(said) as { paths: readonly string[] }).paths);
    });
  });
}
