// Whether the machine has processors to spare, by what they did lately.
import { cpus } from "node:os";

const windowMs = 1_000; // what began a moment ago shows by then what it takes

/** Answers true when at least this share of the machine was idle since it last looked, which it does once a second. */
export function idleWatch(share: number): () => boolean {
  let before = processorTimes();
  return () => {
    const now = processorTimes();
    const total = now.total - before.total;
    if (total < windowMs * now.processors) return false;
    const idle = (now.idle - before.idle) / total;
    before = now;
    return idle >= share;
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
