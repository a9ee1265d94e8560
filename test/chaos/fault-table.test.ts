// The fault table is complete: every row that a run draws has a driver, and docs/faults.md shows the same rows.
// `npm run generate -- tables` writes the page's table.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../harness/suite.ts";
import { clockFaults } from "./clock-story.ts";
import { drawSchedule, faultOf } from "./disturbance.ts";
import { Drawn } from "./drawn.ts";
import { type DrawnBy, type FaultName, type FaultRow, faultTable } from "./fault-table.ts";
import { operatorFaults } from "./operator-story.ts";
import { outageFault } from "./outage-story.ts";
import { paymentFaults } from "./payment-faults.ts";
import { switches } from "./processor-faults.ts";
import { Random } from "./random.ts";
import { treatments } from "./stripe-post.ts";
import { stripeSwitches } from "./stripe-switches.ts";

const test = suite("fault table");
const rows: readonly FaultRow[] = faultTable;
const page = join(import.meta.dirname, "../../docs/faults.md");
/** Injected by the settings of a run and the clients' servers, in run-end.ts and chaos.ts. */
const ofTheRun: readonly FaultName[] = ["keys forgotten", "endpoint fails", "one key for an order"];

/** Rows with a driver, by the kind of run. */
const driven: Readonly<Record<"both" | "chaos", ReadonlySet<string>>> = {
  both: new Set([
    ...Object.keys(switches),
    ...Object.keys(stripeSwitches),
    ...Object.keys(paymentFaults),
    ...Object.keys(operatorFaults),
    ...Object.keys(clockFaults),
    outageFault,
    ...treatments.flatMap(([name]) => (name ? [name] : [])),
    ...ofTheRun,
  ]),
  chaos: new Set(drawSchedule(new Random(1), 3_600_000).flatMap((one) => faultOf(one) ?? [])),
};

test("every row that a walk or a chaos run draws has a driver, and every driver has a row", () => {
  const named = new Set([...driven.both, ...driven.chaos]);
  const drawn = rows.filter(({ drawnBy }) => drawnBy !== "drill").map(({ name }) => name);
  assert.deepEqual(
    drawn.filter((name) => !named.has(name)),
    [],
    "rows without a driver",
  );
  assert.deepEqual(
    [...named].filter((name) => !drawn.includes(name)),
    [],
    "drivers without a row",
  );
});

test("every row that both runs draw has a driver that works in both", () => {
  const inBoth = rows.filter(({ drawnBy }) => drawnBy === "both" || drawnBy === "walk").map(({ name }) => name);
  assert.deepEqual(
    inBoth.filter((name) => !driven.both.has(name)),
    [],
  );
});

test("names are unique, and each drill gives its reason", () => {
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  for (const row of rows) assert.equal(row.drawnBy === "drill", row.because !== undefined, row.name);
  for (const row of rows) assert.ok(row.what.endsWith(".") && row.promise.endsWith("."), row.name);
});

test("docs/faults.md shows the table", () => {
  const [begin, end] = [/<!-- table: .*-->\n/, "<!-- end -->"];
  const text = readFileSync(page, "utf8");
  const marker = begin.exec(text)?.[0] ?? "";
  const from = text.indexOf(marker) + marker.length;
  const wanted = `${text.slice(0, from)}\n${renderFaultTable()}\n\n${text.slice(text.indexOf(end))}`;
  if (process.env.UPDATE === "1") writeFileSync(page, wanted);
  assert.equal(readFileSync(page, "utf8"), wanted, "npm run generate -- tables writes it");
});

test("lists the chosen rows that a run of this kind did not draw", () => {
  const all = new Drawn();
  all.count("clock ahead");
  assert.ok(!all.missing("walk").includes("clock ahead"));
  assert.ok(all.missing("walk").includes("clock behind") && all.missing("chaos").includes("black hole"));
  assert.ok(!all.missing("walk").includes("black hole") && !all.missing("chaos").includes("disk full"));
  assert.deepEqual(new Drawn(["clock ahead"]).missing("chaos"), ["clock ahead"]);
  assert.throws(() => new Drawn(["clok"]), /no fault "clok"/);
});

/** The table as docs/faults.md shows it. */
function renderFaultTable(): string {
  const drawn: Record<DrawnBy, string> = { walk: "walk", chaos: "chaos", both: "", drill: "" };
  const lines = rows.map((one, at) => {
    const by = one.drawnBy === "drill" ? (one.because ?? "") : drawn[one.drawnBy];
    const who = one.who === rows[at - 1]?.who ? "" : one.who;
    return `| ${who} | **${one.name}** | ${one.what} | ${by} | ${one.promise} |`;
  });
  return ["| who | fault | what happens | drawn by | what then holds |", "|---|---|---|---|---|", ...lines].join("\n");
}

test.run();
