/** A git server as the world has them: `git http-backend` behind HTTP over TLS, with one password. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { newRepository, type PlainGit, plainGit } from "./git-place.ts";

/** A request as the server got it. */
export interface GitServerRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
}

/** The server's repositories, and what it was asked. */
export interface GitServer {
  readonly listener: RequestListener;
  readonly requests: GitServerRequest[];
  /** A bare repository that is reached as `/name`. */
  readonly add: (name: string) => PlainGit;
}

/** Name and password that the server wants; none when absent. */
export interface GitLogin {
  readonly username: string;
  readonly password: string;
}

/** A server for repositories below `directory`, which notes what it is asked in `requests`. */
export function gitServer(directory: string, login?: GitLogin, requests: GitServerRequest[] = []): GitServer {
  const backend = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
  const wanted = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
  mkdirSync(directory, { recursive: true });
  return {
    requests,
    listener(request, response) {
      const { method = "", url = "", headers } = request;
      requests.push({ method, url, authorization: headers.authorization });
      if (wanted !== undefined && headers.authorization !== wanted) {
        request.resume();
        response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("who are you?\n");
        return;
      }
      serve(backend, directory, login?.username, request, response);
    },
    add(name) {
      const bare = join(directory, name);
      mkdirSync(bare, { recursive: true });
      const plain = plainGit(bare);
      plain.git("init", "--quiet", "--bare", "--initial-branch=main", "--template=");
      plain.git("config", "http.receivepack", "true");
      return plain;
    },
  };
}

/** Puts a first commit with `files` into `bare`, made in `directory`, and says which it is. */
export function seed(bare: PlainGit, directory: string, files: Readonly<Record<string, string>>): string {
  const plain = newRepository(directory);
  const commit = plain.commit("begin", files);
  plain.git("push", "--quiet", bare.directory, "main");
  return commit;
}

function serve(
  backend: string,
  root: string,
  user: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://server");
  const { headers } = request;
  const child = spawn(backend, [], {
    env: {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: "/nonexistent",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: headers["content-type"] ?? "",
      ...(headers["content-length"] !== undefined && { CONTENT_LENGTH: headers["content-length"] }),
      ...(headers["content-encoding"] !== undefined && { HTTP_CONTENT_ENCODING: headers["content-encoding"] }),
      ...(headers["git-protocol"] !== undefined && { GIT_PROTOCOL: String(headers["git-protocol"]) }),
      ...(user !== undefined && { REMOTE_USER: user }),
      REMOTE_ADDR: "127.0.0.1",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => request.resume()); // it has read all that it wanted
  request.pipe(child.stdin);
  response.once("close", () => child.kill("SIGKILL"));
  let head = Buffer.alloc(0);
  child.stdout.on("data", function first(piece: Buffer) {
    head = Buffer.concat([head, piece]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    child.stdout.off("data", first);
    const lines = head.subarray(0, end).toString("latin1").split("\r\n");
    const fields = lines.map(
      (line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()] as const,
    );
    const status = Number.parseInt(fields.find(([name]) => name === "Status")?.[1] ?? "200", 10);
    response.writeHead(status, fields.filter(([name]) => name !== "Status").flat());
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  });
}
