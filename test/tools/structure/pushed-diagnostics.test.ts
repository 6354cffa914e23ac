/** `diagnostics` of a server that cannot be asked, and only says by itself what is wrong. */
import { expect, test } from "vitest";
import { behave, installDouble } from "../../support/language-place.ts";
import { freshPlace } from "../../support/place.ts";
import { openStructure } from "../../support/structure-place.ts";

const wrong = (message: string) => [
  { range: { start: { line: 0, character: 4 }, end: { line: 0, character: 8 } }, message },
];

test("what it says last of the file as it is, is the answer", { timeout: 120_000 }, async () => {
  const place = freshPlace();
  const refuses = "textDocument/diagnostic";
  installDouble(place, { refuses, publishes: [wrong("syntax"), wrong("types"), wrong("number expected")] });
  const { call } = await openStructure({ "src/a.ts": "let text = 1;\n" }, place);
  expect(await call("diagnostics", { paths: ["src/a.ts"] })).toMatchObject({
    diagnostics: [{ path: "src/a.ts", line: 1, column: 5, severity: "error", message: "number expected" }],
    looked: [{ path: "src/a.ts", server: "double" }],
    truncated: false,
  });
  behave(place, { refuses, publishes: [wrong("types"), []] });
  place.put("workspace/src/a.ts", "let text = 2;\n");
  expect(await call("diagnostics", { paths: ["src/a.ts"] })).toMatchObject({
    diagnostics: [],
    looked: [{ path: "src/a.ts", server: "double" }],
  });
});
