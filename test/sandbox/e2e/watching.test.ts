/**
 * A server that watches its sources, run by an agent in a command, notices what the same agent edits with file tools
 * meanwhile: in real processes of the product, as root and as an ordinary user.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../support/command-line.ts";
import { commandOf, factsOf } from "../../support/mcp-result.ts";
import { givenTo, ORDINARY_USER_ID } from "../../support/other-user.ts";
import { makePlace } from "../../support/place.ts";
import { connectRpc } from "../../support/rpc-client.ts";
import { commandLineOf, processesNaming } from "../../support/sandbox-place.ts";

const own = process.geteuid?.() ?? 0;
const USERS: readonly (readonly [string, number])[] =
  own === 0
    ? [
        ["root", 0],
        ["an ordinary user", ORDINARY_USER_ID],
      ]
    : [["an ordinary user", own]];

/** Ends once it heard of all changes and sees them; else it is ended after some time, and says what it heard. */
const SERVER = `
const fs = require("node:fs");
const heard = new Set();
fs.watch("src", { recursive: true }, (_, name) => heard.add(name));
fs.watch("src/edited.js", () => heard.add("by itself"));
fs.watchFile("src/edited.js", { interval: 20 }, () => heard.add("by a poll"));
const text = (path) => { try { return fs.readFileSync(path, "utf8"); } catch { return "none"; } };
const look = () => ["src/edited.js", "src/made.js", "src/removed.js"].map(text).join();
const wanted = ["by a poll", "by itself", "edited.js", "made.js", "removed.js"];
const end = () => { console.log([...heard].sort().join(), look()); process.exit(); };
console.log(look());
setTimeout(end, 30_000);
setInterval(() => { if (wanted.every((one) => heard.has(one)) && look() === "new,made,none") end(); }, 20);
setTimeout(() => { process.title = process.argv[2]; }, 200);
`;

let servers = 0;

test.each(USERS)(
  "a server that watches its sources notices edits of the same session, where the kernel is %s",
  async (_, kernel) => {
    const made = makePlace();
    onTestFinished(made.remove);
    made.put("workspace/server.cjs", SERVER);
    made.put("workspace/src/edited.js", "old");
    made.put("workspace/src/removed.js", "removed");
    const place = kernel === own ? made : givenTo(made, kernel);
    const client = await connectRpc(place, ["--preset", "open"]);
    servers += 1;
    const word = `watching-${process.pid}-${servers}`;
    const running = client.call("shell", { command: `node server.cjs ${word}` });
    await until(() => processesNaming(word).some((id) => commandLineOf(id).startsWith(word)));
    const edits = [{ operation: "replace", spec: "old", content: "new" }];
    for (const [name, args] of [
      ["edit_file", { path: "src/edited.js", edits }],
      ["write_file", { path: "src/made.js", content: "made" }],
      ["delete_file", { path: "src/removed.js" }],
    ] as const)
      expect(factsOf(await client.call(name, args))).toMatchObject({ status: "success" });
    const { data } = commandOf(await running);
    expect(data).toMatchObject({
      exit_code: 0,
      stdout: "old,none,removed\nby a poll,by itself,edited.js,made.js,removed.js new,made,none\n",
    });
    expect(data).not.toHaveProperty("not_kept");
    expect(["edited.js", "made.js"].map((name) => readFileSync(join(place.workspace, "src", name), "utf8"))).toEqual([
      "new",
      "made",
    ]);
  },
);
