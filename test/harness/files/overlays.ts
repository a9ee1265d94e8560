// Renders kustomize folders as a cluster gets them. Requires kubectl; the tests that need it name it when missing.
import { execFileSync } from "node:child_process";
import { realpathSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseAllDocuments } from "yaml";
import { hasKubectl as findKubectl, renderManifests } from "../../../deploy/release/overlay-rendering.ts";
import type { Suite } from "../suite.ts";
import { tempDir } from "../temp-dir.ts";
import type { KubeObject } from "./kube-schema.ts";

const root = join(import.meta.dirname, "../../..");
/** Folders of deploy/kubernetes/overlays. */
export const overlays = ["local", "small", "staging", "production"] as const;
export type Overlay = (typeof overlays)[number];

export const hasKubectl = findKubectl();

/** @param folder of the project, with a kustomization.yaml */
export function renderFolder(folder: string): readonly KubeObject[] {
  const text = execFileSync("kubectl", ["kustomize", folder], { cwd: root, encoding: "utf8" });
  return parseAllDocuments(text).map((document): KubeObject => document.toJS());
}

/**
 * Renders a folder of deploy/kubernetes with components on top, as an overlay of the operator's own would.
 * @param patches as a kustomization has them
 */
export async function renderWith(
  folder: string,
  components: readonly string[],
  patches: readonly object[] = [],
): Promise<readonly KubeObject[]> {
  const dir = realpathSync(await tempDir("overlay"));
  const relativeTo = (path: string) => relative(dir, join(root, "deploy/kubernetes", path));
  const kustomization = {
    namespace: "tollbooth",
    resources: [relativeTo(folder)],
    components: components.map((name) => relativeTo(`components/${name}`)),
    patches,
  };
  try {
    writeFileSync(join(dir, "kustomization.yaml"), JSON.stringify(kustomization));
    return renderFolder(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** An overlay that lists one component more, as its copy would: before those that are for whatever is there. */
export function renderOverlayWith(overlay: Overlay, component: string): readonly KubeObject[] {
  const text = renderManifests(overlay, (known) => ({
    ...known,
    components: [`../../components/${component}`, ...known.components],
  }));
  return parseAllDocuments(text).map((document): KubeObject => document.toJS());
}

const rendered = new Map<Overlay, readonly KubeObject[]>();

export function renderOverlay(overlay: Overlay): readonly KubeObject[] {
  const objects = rendered.get(overlay) ?? renderFolder(`deploy/kubernetes/overlays/${overlay}`);
  rendered.set(overlay, objects);
  return objects;
}

/** A test that needs kubectl, or the reason why it is left out. */
export function testRendered(test: Suite, name: string, body: () => unknown): void {
  if (hasKubectl) test(name, body);
  else test.skip(name, "there is no kubectl here to render with");
}

/** Adds a test for each overlay. */
export function eachOverlay(
  test: Suite,
  guarantee: string,
  body: (objects: readonly KubeObject[], overlay: Overlay) => unknown,
): void {
  for (const overlay of overlays) {
    testRendered(test, `${overlay}: ${guarantee}`, () => body(renderOverlay(overlay), overlay));
  }
}

export const ofKind = (objects: readonly KubeObject[], ...kinds: string[]) =>
  objects.filter(({ kind }) => kinds.includes(kind));

/** Objects that run pods, with `spec.template` also for the jobs of a CronJob. */
export const workloads = (objects: readonly KubeObject[]): readonly KubeObject[] =>
  ofKind(objects, "Deployment", "StatefulSet", "Job", "CronJob").map((object) =>
    object.kind === "CronJob" ? { ...object, spec: object.spec.jobTemplate.spec } : object,
  );

/** The object of a kind and name, without kustomize's hash of its content. */
// biome-ignore lint/suspicious/noExplicitAny: manifests are data; the schemas have proved their shape.
export function objectNamed(objects: readonly KubeObject[], kind: string, name: string): any {
  const hash = /-[bcdfghkmt2-9]{10}$/;
  const found = objects.find((each) => each.kind === kind && each.metadata.name.replace(hash, "") === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/** The Secrets that the command makes, by name. @param urls of the databases: as services use them, and as owners do */
export function generatedSecrets(...urls: readonly string[]): ReadonlyMap<string, KubeObject> {
  const args = ["deploy/cli/main.ts", "secrets", "manifests", ...urls];
  const { items } = JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }));
  return new Map(items.map((item: KubeObject) => [item.metadata.name, item]));
}
