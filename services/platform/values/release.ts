// The version of this release, from package.json.
import { readFileSync } from "node:fs";
import { membersOf } from "./unchecked.ts";

export function releaseVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  return String(membersOf(manifest).version);
}
