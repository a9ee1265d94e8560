// `npm run prove -- alarms [--only alerts]`: makes every alert of components/monitoring ring on a running stack
// under a real Prometheus, with the rules in fast motion, and end again. Prints which rang within how many seconds;
// exit code 1 when one did not ring or did not end.
import { printHelpIfRequested, readOptions } from "../../deploy/local/options.ts";
import { missingPrometheus } from "../harness/servers/prometheus.ts";
import { type Drill, runDrill } from "./alarms/drill.ts";
import { type AlarmRig, startAlarmRig } from "./alarms/rig.ts";
import { clusterScenes, drilledAlerts, scenes } from "./alarms/scenes.ts";

const usage = `npm run prove -- alarms [--only alerts]

  --only  alerts, separated by commas; default: all`;

async function runCommand(): Promise<boolean> {
  printHelpIfRequested(usage);
  const only = readOptions("only").get("only")?.split(",");
  const unknown = only?.filter((alert) => !drilledAlerts().includes(alert)) ?? [];
  if (unknown.length > 0) {
    console.error(`there is no drill of ${unknown.join(", ")}\n\n${usage}`);
    process.exit(2);
  }
  if (missingPrometheus !== undefined) {
    console.error(missingPrometheus);
    process.exit(1);
  }
  const isWanted = ({ alerts }: Drill) => only === undefined || alerts.some((alert) => only.includes(alert));
  const chosen = (list: readonly (readonly Drill[])[]) =>
    list.map((scene) => scene.filter(isWanted)).filter((scene) => scene.length > 0);
  const silent = [
    ...(await play(chosen(scenes), () => startAlarmRig())),
    ...(await play(chosen(clusterScenes), () => startAlarmRig({ isClustered: true }))),
  ];
  console.log(silent.length === 0 ? "every alert rang and ended" : `NOT AS IT SHOULD: ${silent.join(", ")}`);
  return silent.length === 0;
}

/** @returns the alerts of drills that failed */
async function play(chosen: readonly (readonly Drill[])[], start: () => Promise<AlarmRig>): Promise<string[]> {
  if (chosen.length === 0) return [];
  const rig = await start();
  const failed: string[] = [];
  try {
    for (const scene of chosen) {
      for (const { alerts, about } of scene) console.log(`  ${alerts.join(", ")}: ${about}`);
      await Promise.all(scene.map((drill) => tryDrill(rig, drill, failed)));
    }
  } finally {
    await rig.stop();
  }
  return failed;
}

async function tryDrill(rig: AlarmRig, drill: Drill, failed: string[]): Promise<void> {
  try {
    for (const { alert, rangSeconds, endedSeconds } of await runDrill(rig, drill)) {
      console.log(
        `${alert.padEnd(34)} rang within ${rangSeconds.toFixed(0)} s, ended within ${endedSeconds.toFixed(0)} s`,
      );
    }
  } catch (error) {
    failed.push(...drill.alerts);
    console.log(`${drill.alerts.join(", ")} FAILED: ${error instanceof Error ? error.message : error}`);
  }
}

if (import.meta.main) process.exit((await runCommand()) ? 0 : 1);
