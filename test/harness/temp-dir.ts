// Folders for throw-away data.
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder that others may pass through but not read: as root, PostgreSQL runs as another user. */
export async function tempDir(purpose: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), `tollbooth-${purpose}-`));
  await chmod(dir, 0o711);
  return dir;
}
