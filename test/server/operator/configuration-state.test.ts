// The state of the operator's directory: whatever reading would look at changes it, however many other files lie there.
import { expect, test } from "vitest";
import { configurationState } from "../../../src/server/operator/configuration-state.ts";
import { freshPlace } from "../../support/place.ts";

test("an edit is noticed behind any number of files that are not read", async () => {
  const place = freshPlace();
  for (let index = 0; index < 3000; index += 1) place.put(`config/policy/a${index}.txt`, "");
  place.put("config/policy/own.cedar", "first");
  const before = await configurationState(place.config);
  place.put("config/policy/own.cedar", "second, longer");
  const after = await configurationState(place.config);
  expect(after).not.toBe(before);
  place.put("config/policy/a7.txt", "edited");
  expect(await configurationState(place.config)).toBe(after);
});
