// Whether the machine has room for more work, by what its processors did lately and by its memory.
import { cpus, freemem } from "node:os";

const windowMs = 1_000; // what began a moment ago shows by then what it takes

/** Resources that must stay free. */
export interface Room {
  /** Of all processors' time. */
  readonly idleShare: number;
  /** Of memory; a stack with a browser takes a gigabyte and a half. */
  readonly freeBytes: number;
}

/** Answers true at most once a second: when the machine has had this room since it was asked the last time. */
export function roomWatch(room: Room): () => boolean {
  let before = processorTimes();
  return () => {
    const now = processorTimes();
    const total = now.total - before.total;
    if (total < windowMs * now.processors) return false;
    const idle = (now.idle - before.idle) / total;
    before = now;
    return idle >= room.idleShare && freemem() >= room.freeBytes;
  };
}

/** Milliseconds since the machine started, of all its processors together. */
function processorTimes(): { processors: number; total: number; idle: number } {
  const all = cpus().map(({ times }) => times);
  const sum = (of: (times: (typeof all)[number]) => number) => all.reduce((total, times) => total + of(times), 0);
  return {
    processors: all.length,
    total: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq),
    idle: sum(({ idle }) => idle),
  };
}
