import { test } from "vitest";
import { branchPlace } from "../support/branch-place.ts";
test("x", async () => {
  const place = await branchPlace();
  const call = await place.session();
  await call("create_branch", { name: "one" });
  await call("shell", { command: "sed -i s/one/ONE/ a.txt; echo 1 > one.txt" });
  console.log(await call("merge_branch", { name: "one" }));
  console.log(JSON.stringify(place.asked).slice(0,3000));
});
