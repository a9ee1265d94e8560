// Generates the Helm chart from the overlays: with its default values it renders what they do, object by object.
import { parseAllDocuments, stringify } from "yaml";
import { type Switch, templatesOf } from "./chart-templates.ts";
import { ChartValues, camelCase, type ManifestObject } from "./chart-values.ts";
import { type Kustomization, readKustomization, renderManifests } from "./overlay-rendering.ts";

/** Components that an installation can go without; the others decide what an overlay is. */
const removable = new Set(
  "gateway-api external-secrets operator monitoring monitoring-servers tracing linkerd keda backups".split(" "),
);
/** For a cluster without the Gateway API. */
const addable = ["ingress"];

/** @param manifests of each overlay, rendered. @returns texts by their paths in the chart's folder, sorted */
export function makeChart(version: string, manifests: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const files = new Map([["Chart.yaml", stringify(chartFile(version))]]);
  // A misspelt overlay would render nothing.
  const schema = { type: "object", properties: { overlay: { enum: [...manifests.keys()] } } };
  files.set("values.schema.json", `${JSON.stringify(schema, null, 2)}\n`);
  let main: object | undefined;
  for (const [overlay, text] of manifests) {
    const { values, templates } = chartOf(overlay, text);
    const head = `# The values of ${overlay}, generated from its overlay. Copy what you change into a file of your own.\n`;
    files.set(main ? `values-${overlay}.yaml` : "values.yaml", head + stringify(values, { sortMapEntries: true }));
    main ??= values;
    files.set(`templates/_${overlay}.tpl`, changedName(overlay, main, values));
    for (const [name, text] of templates) files.set(`templates/${overlay}/${name}.yaml`, text);
  }
  return new Map([...files].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function chartOf(overlay: string, manifests: string) {
  const found = new ChartValues();
  const objectsOf = (text: string) =>
    found.markAll(parseAllDocuments(text).map((document): ManifestObject => document.toJS()));
  const own = objectsOf(manifests);
  const switches = switchesOf(overlay);
  const variants = switches.map((each) => ({
    ...each,
    objects: objectsOf(renderManifests(overlay, (known) => withSwitched(known, [each]))),
  }));
  const components = Object.fromEntries(switches.map((each) => [camelCase(each.component), !each.isAdded]));
  const templates = templatesOf(overlay, own, variants, found.hashes);
  return { values: { overlay, components, ...found.defaults }, templates };
}

/** The components of an overlay that a value switches. */
export function switchesOf(overlay: string): Switch[] {
  const names = readKustomization(overlay).components.map(nameOf);
  return [
    ...names.filter((name) => removable.has(name)).map((component) => ({ component, isAdded: false })),
    ...addable.map((component) => ({ component, isAdded: true })),
  ];
}

const nameOf = (path: string) => path.split("/").at(-1) ?? "";

/** Added ones come first: others, as the mesh, are for whatever is there. */
export function withSwitched(known: Kustomization, switches: readonly Switch[]): Kustomization {
  const switched = switches.map(({ component }) => component);
  const kept = known.components.filter((path) => !switched.includes(nameOf(path)));
  const added = switches.filter(({ isAdded }) => isAdded).map(({ component }) => `../../components/${component}`);
  // They copy an address from an object of this component.
  const replacements = switched.includes("monitoring") ? [] : known.replacements;
  // The overlay's own ExternalSecrets go with the others.
  const hasStore = !switched.includes("external-secrets");
  const resources = known.resources.filter((path) => hasStore || !/-(roles|secret)\.yaml$/.test(path));
  return { ...known, replacements, resources, components: [...added, ...kept] };
}

function chartFile(version: string) {
  const description = "Self-hosted checkout payments service";
  const kubeVersion = ">=1.30.0-0";
  return {
    apiVersion: "v2",
    name: "tollbooth",
    description,
    type: "application",
    version,
    appVersion: version,
    kubeVersion,
  };
}

/** Names of settings end with a hash of their content; changed values add another, so pods restart with them. */
function changedName(overlay: string, ...values: object[]): string {
  const now = "toJson (list .Values.hosts .Values.components)";
  const defaults = ["hosts", "components"].map((name) => {
    // Helm adds an overlay's values to the chart's own, and prints members by name.
    const merged = Object.assign({}, ...values.map((each) => Reflect.get(each, name)));
    return Object.fromEntries(Object.entries(merged).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
  return `{{- define "tollbooth.${overlay}.changed" -}}
{{- if ne (${now}) \`${JSON.stringify(defaults)}\` -}}
-{{ ${now} | sha256sum | trunc 10 }}
{{- end -}}
{{- end -}}
`;
}
