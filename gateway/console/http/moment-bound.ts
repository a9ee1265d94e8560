// Days that somebody typed into a filter, as the moments that they begin and end at (UTC).
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";

const dayMs = 86_400_000;

/** When the day begins; undefined: it is no day. */
export function dayBegins(text: string): Timestamp | undefined {
  const ms = dayOf(text);
  return ms === undefined ? undefined : timestampFromMs(ms);
}

/** When the day is over. */
export function dayEnds(text: string): Timestamp | undefined {
  const ms = dayOf(text);
  return ms === undefined ? undefined : timestampFromMs(ms + dayMs);
}

function dayOf(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  // JavaScript takes the 31st of February for a day in March.
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text) ? undefined : ms;
}
