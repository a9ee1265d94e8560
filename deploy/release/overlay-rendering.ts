// Renders the overlays of a release with kubectl, as they are or with components added or left out.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parse } from "yaml";

/** The chart's own values are those of the first. */
export const releaseOverlays = ["production", "staging", "small"] as const;

/** The parts of this project's overlays. */
export interface Kustomization {
  readonly resources: readonly string[];
  readonly components: readonly string[];
  readonly [field: string]: unknown;
}

const root = join(import.meta.dirname, "../..");
const folderOf = (overlay: string) => join(root, "deploy/kubernetes/overlays", overlay);

export function hasKubectl(): boolean {
  return spawnSync("kubectl", ["version", "--client"], { stdio: "ignore" }).status === 0;
}

export function readKustomization(overlay: string): Kustomization {
  return parse(readFileSync(join(folderOf(overlay), "kustomization.yaml"), "utf8"));
}

/** @param change returns the kustomization to render in the place of the overlay's */
export function renderManifests(overlay: string, change?: (own: Kustomization) => Kustomization): string {
  const folder = folderOf(overlay);
  if (!change) return kustomize(folder);
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "tollbooth-overlay-")));
  // kustomize reads folders anywhere, but files only in the folder itself.
  const moved = (path: string) => (path.endsWith(".yaml") ? path : relative(dir, join(folder, path)));
  const { resources, components, ...others } = change(readKustomization(overlay));
  const kustomization = { ...others, resources: resources.map(moved), components: components.map(moved) };
  try {
    for (const file of resources.filter((path) => path.endsWith(".yaml")))
      copyFileSync(join(folder, file), join(dir, file));
    writeFileSync(join(dir, "kustomization.yaml"), JSON.stringify(kustomization));
    return kustomize(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function kustomize(folder: string): string {
  const env = { ...process.env, GOGC: "400" }; // rarer garbage collection halves its time
  return execFileSync("kubectl", ["kustomize", folder], { env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}
