// Days in addresses and forms, as `<input type=date>` writes them, in the page's time zone. A text that is not a day
// becomes undefined.
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { startOfDay } from "../view/zone.ts";

const dayMs = 86_400_000;

export function dayStart(text: string): Timestamp | undefined {
  const ms = startOfDay(text);
  return ms === undefined ? undefined : timestampFromMs(ms);
}

export function dayEnd(text: string): Timestamp | undefined {
  const ms = startOfNextDay(text);
  return ms === undefined ? undefined : timestampFromMs(ms - 1);
}

export function nextDayStart(text: string): Timestamp | undefined {
  const ms = startOfNextDay(text);
  return ms === undefined ? undefined : timestampFromMs(ms);
}

function startOfNextDay(text: string): number | undefined {
  return startOfDay(text) === undefined ? undefined : startOfDay(dayText(Date.parse(`${text}T00:00:00Z`) + dayMs));
}

/** A UTC day, for example `2026-11-25`. */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
