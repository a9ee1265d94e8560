// `npm run prove -- soak --minutes 60 --load 70`: a stack of its own under mixed load at a share of the whole machine
// for an hour. Every minute it writes down memory, connections, what PostgreSQL keeps and the latencies of each
// request; at the end it compares the last third with the first, checks the books and that merchants were told of every
// payment. Exit code 1 when something grew that should be flat.
import { writeFile } from "node:fs/promises";
import { helpIfAsked, readOptions } from "../../deploy/local/options.ts";
import { soakPicture } from "./soak-picture.ts";
import { startSoakRig } from "./soak-rig.ts";
import { grown, type Minute, soakTable } from "./soak-table.ts";

const usage = `npm run prove -- soak [--minutes N] [--load P] [--picture file.svg]

  --minutes  how long after the load is found, 3 to 1440; default 60
  --load     of the machine's cores that everything together takes, 10 to 90 percent; default 70
  --picture  also draws the minutes into this file`;

helpIfAsked(usage);
const given = readOptions("minutes", "load", "picture");
const minutes = Number(given.get("minutes") ?? 60);
const load = Number(given.get("load") ?? 70);
if (!(Number.isInteger(minutes) && minutes >= 3 && minutes <= 1_440) || !(load >= 10 && load <= 90)) {
  console.error("--minutes takes a whole number from 3 to 1440, --load one from 10 to 90");
  process.exit(2);
}
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => interrupted.abort());
const rig = await startSoakRig();
try {
  console.log(`soak of ${minutes} minutes at ${load} % of the machine`);
  const perSecond = await rig.findRate(load / 100, console.log, interrupted.signal);
  console.log(`  ${perSecond.toFixed(1)} orders a second from here on`);
  const rows: Minute[] = [];
  while (rows.length < minutes && !interrupted.signal.aborted) {
    const row = await rig.minute(perSecond, interrupted.signal);
    rows.push(row);
    console.log(
      `  minute ${rows.length}: ${row.orders} orders, ${Math.round(row.busy * 100)} % busy, ${row.megabytes.payments} MB payments`,
    );
  }
  if (interrupted.signal.aborted) throw new Error("interrupted");
  console.log(`\n${soakTable(rows)}\n`);
  const picture = given.get("picture");
  if (picture !== undefined) await writeFile(picture, soakPicture(rows));
  const complaints = [...grown(rows), ...(await rig.differences())];
  for (const complaint of complaints) console.log(`DIFFERENCE ${complaint}`);
  console.log(
    complaints.length === 0
      ? "flat; the books agree, and merchants were told of every payment"
      : `${complaints.length} differences`,
  );
  process.exitCode = complaints.length === 0 ? 0 : 1;
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  console.log("interrupted; nothing was compared");
  process.exitCode = 130;
} finally {
  await rig.stop();
}
process.exit();
