// Shortens a log line of a process for the terminal, which shows warnings and errors only.

const lengthMax = 200; // the whole line is in the log file
const warnLevel = 40; // pino's number
/** An unavailable part makes its callers log many errors a second; the terminal shows the first ones. */
const shownMax = 5;
const windowMs = 10_000;
const names: Record<number, string> = { 40: "warn", 50: "error", 60: "fatal" };

/**
 * @param line JSON from our logs, or other output such as a crash
 * @returns the short form; undefined below `warn`
 */
export function warningOf(line: string): string | undefined {
  if (line.trim() === "") return undefined;
  const entry = parse(line);
  if (!entry) return line.slice(0, lengthMax);
  const level = levelOf(entry.level);
  if (level === undefined) return undefined;
  const text = [entry.msg, messageOf(entry.err ?? entry.error)].filter(
    (each) => typeof each === "string" && each !== "",
  );
  return `${level}: ${text.join(": ").replaceAll("\n", " ")}`.slice(0, lengthMax);
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function levelOf(level: unknown): string | undefined {
  if (typeof level === "number") return level >= warnLevel ? (names[level] ?? "error") : undefined;
  return Object.values(names).find((name) => name === level);
}

function messageOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("message" in error)) return "";
  return String(error.message);
}

/** Passes on the first lines of each ten seconds and notes when there are more. */
export function limitedWarnings(show: (line: string) => void, now = () => performance.now()): (line: string) => void {
  let windowEnd = 0;
  let count = 0;
  return (line) => {
    if (now() >= windowEnd) {
      windowEnd = now() + windowMs;
      count = 0;
    }
    count++;
    if (count <= shownMax) show(line);
    else if (count === shownMax + 1) show("warn: more of these in its log");
  };
}
