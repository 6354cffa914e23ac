// Where a text stops being JSON, as it is told to whoever typed it.
import { expect, test } from "vitest";
import { jsonFault } from "../../src/text/json-fault.ts";

test.each([
  ["{", "line 1, column 2, where it ends too early"],
  ["", "line 1, column 1, where it ends too early"],
  ['{"a":"b', "line 1, column 8, where it ends too early"],
  ['{"a": x}', 'line 1, column 7, near `{"a": x}`'],
  ["abc", "line 1, column 1, near `abc`"],
  ['{"a":1,}', 'line 1, column 8, near `{"a":1,}`'],
  ['{"a":1\n "b":2}', 'line 2, column 2, near ` "b":2}`'],
  ["{'a':1}", "line 1, column 2, near `{'a':1}`"],
  ['{"path":"a.txt","x":tru}', 'line 1, column 24, near `ath":"a.txt","x":tru}`'],
  ["{}x", "line 1, column 3, near `{}x`"],
])("%j: %s", (text, place) => {
  expect(jsonFault(text)).toBe(place);
});

test("what is JSON has no fault", () => {
  expect(jsonFault('{"a":[1,"é\\n"]}')).toBeUndefined();
});
