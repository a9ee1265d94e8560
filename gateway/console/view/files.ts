// The one script and the one style sheet of the consoles, as `npm run generate -- web` bundles them; served under names
// that change with their content.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import { foreverCache, type ServedFile, sendFile, servedFile } from "../../web/served-file.ts";

const dist = join(import.meta.dirname, "../../web/dist/console");
const filesPath = "/files";

interface ConsoleFile extends ServedFile {
  readonly path: string;
}

let known: { readonly script: ConsoleFile; readonly style: ConsoleFile } | undefined;

/** Read once, when the first page is made. */
export function consoleFiles(): { readonly script: ConsoleFile; readonly style: ConsoleFile } {
  return (known ??= { script: fileOf(".js"), style: fileOf(".css") });
}

/** Adds the route that serves them. */
export function fileRoutes(app: FastifyInstance): void {
  app.get<{ Params: { name: string } }>(`${filesPath}/:name`, async (request, reply) => {
    const file = Object.values(consoleFiles()).find(({ path }) => basename(path) === request.params.name);
    if (!file) throw new Failure("NOT_FOUND");
    return sendFile(request, reply, file, foreverCache);
  });
}

function fileOf(ending: string): ConsoleFile {
  const name = globSync(`*${ending}`, { cwd: dist })[0];
  if (name === undefined) throw new Error(`no console${ending} in gateway/web/dist/console: npm run generate -- web`);
  return { ...servedFile(name, readFileSync(join(dist, name), "utf8")), path: `${filesPath}/${name}` };
}
