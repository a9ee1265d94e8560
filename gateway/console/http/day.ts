// UTC days in addresses and forms, as `<input type=date>` writes them. A text that is not a day becomes undefined.
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";

const dayMs = 86_400_000;

export function dayStart(text: string): Timestamp | undefined {
  return momentOf(text, 0);
}

export function dayEnd(text: string): Timestamp | undefined {
  return momentOf(text, dayMs - 1);
}

export function nextDayStart(text: string): Timestamp | undefined {
  return momentOf(text, dayMs);
}

/** For example `2026-11-25`. */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function momentOf(text: string, offsetMs: number): Timestamp | undefined {
  if (!/^(19|20|21)\d\d-\d\d-\d\d$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  // The parser turns the 31st of a shorter month into the 1st of the next one.
  return !Number.isNaN(ms) && dayText(ms) === text ? timestampFromMs(ms + offsetMs) : undefined;
}
