// A log file with a bound: at the limit it becomes `<name>.1`, replacing the one before, and a new one begins.
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Two files of this size for each of eight processes: 320 MB at most on the user's disk. */
const sizeMax = 20 * 1024 * 1024;

/** Where the output of one process goes. */
export interface LogFile {
  /** Appends; a full disk loses log lines, never the stack. */
  write(data: string | Uint8Array): void;
  close(): void;
}

/** Opens the file for appending, readable by the owner only: logs hold no secrets, but say much. */
export function openLogFile(path: string): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  let file = openSync(path, "a", 0o600);
  let size = fstatSync(file).size;
  let isOpen = true;
  const rotate = () => {
    closeSync(file);
    renameSync(path, `${path}.1`);
    file = openSync(path, "a", 0o600);
    size = 0;
  };
  return {
    write(data) {
      if (!isOpen) return;
      try {
        if (size >= sizeMax) rotate();
        size += typeof data === "string" ? writeSync(file, data) : writeSync(file, data);
      } catch {
        // Nowhere to write, and nobody to tell: the stack goes on.
      }
    },
    close() {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}
