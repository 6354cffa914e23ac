// Cedar is given back and comes back: no verdict changes, what is remembered does without it, and its memory is really
// free.
import { afterEach, expect, test, vi } from "vitest";
import { loadCedar, presentCedar, releaseCedar } from "../../src/policy/compile/cedar.ts";
import { collectHeap } from "../../src/server/ledger/idle-memory.ts";
import { engineOf, file, operator, presetSources, request } from "../support/policy-fixtures.ts";

const { createRequire } = vi.hoisted(() => ({ createRequire: vi.fn<typeof import("node:module").createRequire>() }));
vi.mock("node:module", async (original) => {
  const actual = await original<typeof import("node:module")>();
  createRequire.mockImplementation(actual.createRequire);
  return { ...actual, createRequire };
});
afterEach(() => void releaseCedar());

const FORBID = operator(
  `@id("own.forbid") forbid (principal, action, resource is Handrail::File) when { resource.path like "secret*" };`,
);

test("verdicts are the same with Cedar given back before each, remembered ones without it", async () => {
  const steady = await engineOf([...presetSources("dev"), FORBID]);
  const paths = ["src/a.ts", "secret.txt", "src/b.ts"];
  const expected = paths.map((path) => steady.evaluate(request({ resource: file("own", path) })));
  expect(expected.map(({ decision }) => decision)).toEqual(["allow", "deny", "allow"]);

  const engine = await engineOf([...presetSources("dev"), FORBID]);
  for (const [index, path] of paths.entries()) {
    expect([releaseCedar(), presentCedar()]).toEqual([true, undefined]);
    expect(engine.evaluate(request({ resource: file("own", path) }))).toEqual(expected[index]);
    expect(presentCedar()).toBe(loadCedar()); // a new decision brought it back
  }
  releaseCedar();
  for (const [index, path] of paths.entries()) {
    expect(engine.evaluate(request({ resource: file("own", path) }))).toEqual(expected[index]);
  }
  expect(presentCedar()).toBeUndefined();
  expect(releaseCedar()).toBe(false);
  expect(engine.evaluatePlainly(request({ resource: file("own", "secret.txt") }))).toEqual(expected[1]);
  expect(presentCedar()).toBeDefined();
});

test("an engine that is disposed while Cedar is given back denies, and brings nothing back", async () => {
  const engine = await engineOf(presetSources("dev"));
  expect(engine.evaluate(request()).decision).toBe("allow");
  releaseCedar();
  engine.dispose();
  expect(engine.evaluate(request())).toMatchObject({ decision: "deny", cause: "error" });
  expect(presentCedar()).toBeUndefined();
});

test("when Cedar cannot be brought back, what is not remembered is denied until it can", async () => {
  const engine = await engineOf(presetSources("dev"));
  const remembered = engine.evaluate(request());
  releaseCedar();
  createRequire.mockImplementationOnce(() => {
    throw new Error("the package is gone");
  });
  const other = request({ action: "write_file", effect: "write" });
  expect(engine.evaluate(other)).toMatchObject({ decision: "deny", cause: "error" });
  expect(engine.evaluate(request())).toEqual(remembered);
  expect(engine.evaluate(other).decision).toBe("allow");
});

test("the memory of a Cedar that was given back is collected; the control: of one that was not it is kept", async () => {
  const engine = await engineOf(presetSources("dev"));
  expect(engine.evaluate(request()).decision).toBe("allow");
  const cedar = new WeakRef(loadCedar());
  await nextTurn(); // a weak reference holds on to what it gave until the turn ends
  collectHeap(0);
  await nextTurn();
  expect(cedar.deref() === undefined).toBe(false);
  await nextTurn();
  createRequire.mockClear(); // the double remembers what it returned
  releaseCedar();
  collectHeap(0);
  await nextTurn();
  expect(cedar.deref() === undefined).toBe(true);
  expect(engine.evaluate(request()).decision).toBe("allow");
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
