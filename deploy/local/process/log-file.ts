// A log file with a size limit: a full one becomes `<name>.1`, replacing the previous one, and a new one begins.
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Two files of this size for each of eight processes: at most 320 MB on the user's disk. */
const sizeMax = 20 * 1024 * 1024;

export interface LogFile {
  /** Appends; a full disk loses log lines but does not stop the stack. */
  write(data: string | Uint8Array): void;
  close(): void;
}

/** Readable by the owner only. */
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
        // No place is left to report it.
      }
    },
    close() {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}
