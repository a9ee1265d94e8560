// A drill of an alarm: something goes wrong on a running stack, the alerts for it ring under a real Prometheus, it
// ends, and they end.
import { eventually } from "../../harness/eventually.ts";
import type { AlarmRig } from "./rig.ts";

/** Ends what a drill began. */
export type End = () => Promise<unknown>;

export interface Drill {
  /** Those that must ring, and end afterwards. */
  readonly alerts: readonly string[];
  /** The failure, in a few words. */
  readonly about: string;
  /** @returns undefined: it needs no end. */
  begin(rig: AlarmRig): Promise<End | undefined>;
}

/** The result, in seconds since the failure began and since it ended. */
export interface Ringing {
  readonly alert: string;
  readonly rangSeconds: number;
  readonly endedSeconds: number;
}

// Twice the minute between two reads of a gauge, on a busy machine.
const limitMs = 240_000;
const everyMs = 250;

/** @throws when an alert does not ring, or does not end. */
export async function runDrill(rig: AlarmRig, { alerts, begin }: Drill): Promise<Ringing[]> {
  for (const alert of alerts) await isSilent(rig, alert);
  const beganAt = performance.now();
  const end = await begin(rig);
  const rang = new Map<string, number>();
  try {
    for (const alert of alerts) rang.set(alert, await waitForAlert(rig, alert).then(() => secondsSince(beganAt)));
  } finally {
    await end?.();
  }
  const mendedAt = performance.now();
  const ringings: Ringing[] = [];
  for (const alert of alerts) {
    await waitForAlertEnd(rig, alert);
    ringings.push({ alert, rangSeconds: rang.get(alert) ?? 0, endedSeconds: secondsSince(mendedAt) });
  }
  return ringings;
}

async function waitForAlert({ prometheus }: AlarmRig, alert: string): Promise<void> {
  await eventually(`${alert} to ring`, async () => (await prometheus.firing()).has(alert), { limitMs, everyMs });
}

async function waitForAlertEnd({ prometheus }: AlarmRig, alert: string): Promise<void> {
  await eventually(`${alert} to end`, async () => !(await prometheus.firing()).has(alert), { limitMs, everyMs });
}

/** Not even about to ring, and for a while: what the drill before left behind proves nothing. */
async function isSilent({ prometheus }: AlarmRig, alert: string): Promise<void> {
  const late = `count_over_time(ALERTS{alertname="${alert}"}[5s])`;
  await eventually(`${alert} to be silent`, async () => (await prometheus.query(late)).length === 0, {
    limitMs,
    everyMs,
  });
}

const secondsSince = (at: number) => (performance.now() - at) / 1_000;

/** Runs the work in a loop, ignoring its outcome. @param then follows the last round. @returns stops the loop */
export function keepDoing(work: () => Promise<unknown>, workers = 1, then: () => unknown = () => {}): End {
  let isOver = false;
  const one = async () => {
    while (!isOver) {
      await work().catch(() => {});
      // Work that fails at once leaves others their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const all = Promise.all(Array.from({ length: workers }, one));
  return async () => {
    isOver = true;
    await all;
    await then();
  };
}

/** A table that is missing until the end. */
export async function tableGone({ sql }: Pick<AlarmRig, "sql">, service: string, table: string): Promise<End> {
  await sql(service, `alter table ${table} rename to ${table}_gone`);
  return () => sql(service, `alter table ${table}_gone rename to ${table}`);
}
