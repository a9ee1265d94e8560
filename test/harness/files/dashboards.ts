// Grafana's dashboards of deploy/kubernetes/dashboards, as the tests read them: panels with their queries, variables
// chosen as "All", and what they draw.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

export interface Panel {
  readonly dashboard: string;
  readonly title: string;
  /** Names the alerts that watch what it shows. */
  readonly description: string;
  /** Queries, their variables standing for all that there is. */
  readonly exprs: readonly string[];
  /** Where colours change, from the lowest on; the first one has no value. */
  readonly steps: readonly { readonly color: string; readonly value: number | null }[];
}

interface Written {
  readonly templating: { readonly list: readonly Variable[] };
  readonly panels: readonly {
    readonly title: string;
    readonly description?: string;
    readonly targets?: readonly { readonly expr: string }[];
    readonly fieldConfig?: { readonly defaults: { readonly thresholds?: { readonly steps: Panel["steps"] } } };
  }[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly multi?: boolean;
  readonly includeAll?: boolean;
  readonly allValue?: string;
}

/** @throws when a query names a variable that its dashboard lacks, or that cannot be several or all of its values. */
export function readPanels(): Panel[] {
  const folder = join(import.meta.dirname, "../../../deploy/kubernetes/dashboards");
  return globSync(join(folder, "*.json")).flatMap((file) => {
    const { templating, panels }: Written = JSON.parse(readFileSync(file, "utf8"));
    return panels.map(({ title, description = "", targets = [], fieldConfig }) => ({
      dashboard: basename(file, ".json"),
      title,
      description,
      exprs: targets.map(({ expr }) => chosenAll(expr, templating.list)),
      steps: fieldConfig?.defaults.thresholds?.steps ?? [],
    }));
  });
}

function chosenAll(expr: string, variables: readonly Variable[]): string {
  return expr.replaceAll(/(=~)?"\$(\w+)"|\$\w+/g, (text, matcher?: string, name?: string) => {
    const variable = variables.find((one) => one.name === name);
    if (matcher === undefined || !variable?.multi || !variable.includeAll || variable.allValue === undefined)
      throw new Error(`${text} of ${expr} is no choice of several`);
    return `=~"${variable.allValue}"`;
  });
}
