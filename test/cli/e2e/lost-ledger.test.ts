/** A server whose ledger was taken away ends with its client: what runs commands does not keep it alive. */
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { freshPlace } from "../../support/place.ts";
import { connectRpc } from "../../support/rpc-client.ts";

test.each([
  ["with its ledger", false, /^0$/],
  // it says so where it looks in time
  ["without it", true, /^[01]$/],
])("it ends after a command, %s", async (_, isLost, code) => {
  const place = freshPlace();
  const client = await connectRpc(place, ["--preset", "open"]);
  await client.call("shell", { command: "true" });
  if (isLost) rmSync(place.state, { recursive: true });
  client.process.stdin.end();
  expect(await client.ended).toMatch(code);
});
