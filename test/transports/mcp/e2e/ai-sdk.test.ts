// The AI SDK's client uses `handrail mcp`, as an agent that is written with it does.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { expect, onTestFinished, test } from "vitest";
import { environmentOf } from "../../../support/command-line.ts";
import { serverCommand } from "../../../support/mcp-programs.ts";
import { freshPlace } from "../../../support/place.ts";

test("its tools read and edit, and a denial says what to do", async () => {
  const place = freshPlace();
  place.put("workspace/a.txt", "one\n");
  place.put("workspace/.env", "KEY=value\n");
  const [command, ...args] = serverCommand(place);
  const transport = new StdioTransport({ command, args, env: environmentOf(place), cwd: place.workspace });
  const client = await createMCPClient({ transport });
  onTestFinished(() => client.close());
  const tools = await client.tools();
  const call = (name: string, input: unknown) =>
    tools[name]?.execute?.(input, { toolCallId: "1", messages: [], context: {} });
  expect(Object.keys(tools)).toEqual(expect.arrayContaining(["read_file", "edit_file", "shell"]));
  expect(await call("read_file", { path: "a.txt" })).toMatchObject({ isError: false, content: [{ text: "one\n" }] });

  expect(await call("edit_file", { path: "a.txt", old_string: "one", new_string: "two" })).toMatchObject({
    isError: false,
  });
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("two\n");
  expect(await call("read_file", { path: ".env" })).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringContaining("ZONE:secret") }],
  });
});
