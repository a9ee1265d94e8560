// Serves the script and style sheet of the consoles and of the payment page's preview, as `npm run generate -- web`
// bundles them. Their names change with their content.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { requireFound } from "#platform/values/failure.ts";
import { brandingCss } from "../../web/branding/branding-css.ts";
import { foreverCache, type ServedFile, sendFile, servedFile } from "../../web/served-file.ts";

const dist = join(import.meta.dirname, "../../web/dist/console");
const filesPath = "/files";

interface ConsoleFile extends ServedFile {
  readonly path: string;
}

interface Bundle {
  readonly script: ConsoleFile;
  readonly style: ConsoleFile;
}

const bundles = new Map<string, Bundle>();

export function consoleFiles(): Bundle {
  return bundleOf("console");
}

export function previewFiles(): Bundle {
  return bundleOf("preview");
}

function bundleOf(name: "console" | "preview"): Bundle {
  const read = bundles.get(name) ?? { script: fileOf(name, "js"), style: fileOf(name, "css") };
  bundles.set(name, read);
  return read;
}

export function fileRoutes(app: FastifyInstance): void {
  app.get<{ Params: { name: string }; Querystring: Record<string, unknown> }>(
    `${filesPath}/:name`,
    async (request, reply) => {
      const all = [consoleFiles(), previewFiles()].flatMap(({ script, style }) => [script, style]);
      const file = requireFound(all.find(({ path }) => basename(path) === request.params.name));
      // The address of the preview's style sheet holds the branding, as on the payment page.
      const isBranded = file === previewFiles().style && Object.keys(request.query).length > 0;
      const shown = isBranded
        ? servedFile(request.params.name, `${file.bytes.toString()}\n${brandingCss(request.query)}`)
        : file;
      return sendFile(request, reply, shown, foreverCache);
    },
  );
}

function fileOf(bundle: string, ending: string): ConsoleFile {
  const name = globSync(`${bundle}-*.${ending}`, { cwd: dist })[0];
  if (name === undefined)
    throw new Error(`no ${bundle}.${ending} in gateway/web/dist/console: npm run generate -- web`);
  return { ...servedFile(name, readFileSync(join(dist, name), "utf8")), path: `${filesPath}/${name}` };
}
