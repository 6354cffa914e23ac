// A command makes a `handrail.yaml`, which it may not: while it runs and afterwards sessions go by what people wrote.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createKernel } from "../../../src/index.ts";
import { until } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

const HIDES_ALL = "files: { secret: ['**'] }\n";

test("settings that a running command makes govern nobody, in no kernel", async () => {
  const place = freshPlace();
  mkdirSync(join(place.workspace, "sub"), { mode: 0o777 });
  for (const path of ["workspace/a.txt", "workspace/sub/a.txt"]) place.put(path, "x");
  const made = ["handrail.yaml", "sub/handrail.yaml"];
  place.put(
    "workspace/make.sh",
    `for f in ${made.join(" ")}; do printf '%s' "${HIDES_ALL.trim()}" >$f; done; ls sub; until ls | grep -qx go; do sleep 0.05; done`,
  );
  const options = {
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home },
    onWarning: () => undefined,
  };
  const [one, two] = [await createKernel(options), await createKernel(options)];
  onTestFinished(async () => {
    await one.close();
    await two.close();
  });
  const maker = await one.openSession({ workspace: place.workspace, preset: "open" });
  let said = "";
  const command = maker.call(
    "shell",
    { command: "bash make.sh" },
    {
      onProgress(report) {
        if (report.kind === "output") said += Buffer.from(report.bytes).toString();
      },
    },
  );
  await until(() => said.includes("handrail.yaml"));
  const reads = async () => {
    const results: string[] = [];
    for (const kernel of [one, two])
      for (const workspace of [place.workspace, join(place.workspace, "sub")]) {
        const session = await kernel.openSession({ workspace });
        results.push((await session.call("read_file", { path: "a.txt" })).result.status);
      }
    return results;
  };
  expect(await reads()).toEqual(["success", "success", "success", "success"]);
  writeFileSync(join(place.workspace, "go"), "");
  const { result } = await command;
  expect(result).toMatchObject({
    status: "success",
    data: { not_kept: made.map((path) => ({ path, reason: "not_allowed" })) },
  });
  expect(made.filter((path) => existsSync(join(place.workspace, path)))).toEqual([]);
  expect(await reads()).toEqual(["success", "success", "success", "success"]);
  // The control: the very files govern where a person has written them.
  for (const path of made) writeFileSync(join(place.workspace, path), HIDES_ALL);
  await until(async () => (await reads()).every((status) => status === "error"));
});
