// Serves the SDK to any page: `/js/v1/…` is the newest release and cached for minutes; `/js/<version>/…` never changes
// and can be pinned by the hashes in `/js/manifest.json`.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../failures.ts";
import { foreverCache, type ServedFile, sendFile, servedFile } from "../../web/served-file.ts";

const evergreenCache = "public, max-age=300, stale-while-revalidate=86400";
const dist = join(import.meta.dirname, "../../web/dist/js");

/** @param version of this release, which `v1` serves */
export function browserScriptRoutes(app: FastifyInstance, version: string): void {
  const releases = readReleases();
  const manifest = servedFile("manifest.json", JSON.stringify(describe(releases, version), null, 2));
  app.get("/js/manifest.json", async (request, reply) => {
    openToPages(reply.headers.bind(reply));
    return sendFile(request, reply, manifest, evergreenCache);
  });
  app.get<{ Params: { release: string; name: string } }>("/js/:release/:name", async (request, reply) => {
    const { release, name } = request.params;
    const isEvergreen = release === "v1";
    const file = releases.get(isEvergreen ? version : release)?.get(name);
    if (!file) throw new ApiError("not_found");
    openToPages(reply.headers.bind(reply));
    return sendFile(request, reply, file, isEvergreen ? evergreenCache : foreverCache);
  });
}

/** `integrity` requires CORS, and pages with COEP require the resource policy. */
function openToPages(set: (headers: Record<string, string>) => unknown): void {
  set({ "access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin" });
}

/** Files by release and name; the folder keeps earlier releases. */
function readReleases(): Map<string, Map<string, ServedFile>> {
  const releases = new Map<string, Map<string, ServedFile>>();
  for (const path of globSync("*/*", { cwd: dist }).sort()) {
    const [release = "", name = ""] = path.split("/");
    const files = releases.get(release) ?? new Map<string, ServedFile>();
    releases.set(release, files.set(name, servedFile(name, readFileSync(join(dist, path)))));
  }
  return releases;
}

function describe(releases: ReadonlyMap<string, ReadonlyMap<string, ServedFile>>, version: string) {
  const scripts = (files: ReadonlyMap<string, ServedFile>) =>
    [...files].filter(([name]) => !name.endsWith(".map")).map(([name, { integrity }]) => [name, { integrity }]);
  const versions = [...releases].map(([release, files]) => [release, Object.fromEntries(scripts(files))]);
  return { v1: version, versions: Object.fromEntries(versions) };
}
