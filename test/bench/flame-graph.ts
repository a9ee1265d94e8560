// A CPU profile as a flame graph: each frame as wide as its share of the time in which the process was busy, below who
// called it. SVG, without a script; a frame's title says its share and its file.

/** As the inspector's Profiler gives it. */
export interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
      readonly columnNumber: number;
    };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** Microseconds. */
  readonly timeDeltas: readonly number[];
}

/** Calls of one function from the same callers. Microseconds. */
export interface Frame {
  readonly name: string;
  /** "" of V8's and Node's own. */
  readonly file: string;
  total: number;
  readonly below: Map<string, Frame>;
}

// What is narrower than this share of the picture cannot be read.
const shareMin = 0.002;
const [width, rowHeight, top] = [1_200, 15, 44] as const;
const charWidth = 6.2;
const colours = { ours: "#f2b950", packages: "#8fb8de", engine: "#d9d9d9" } as const;

/** @param sourceOf the file of a place, below the project's folder */
export function framesOf(profile: Profile, sourceOf: (url: string, line: number, column: number) => string): Frame {
  const self = new Map<number, number>();
  profile.samples.forEach((id, i) => void self.set(id, (self.get(id) ?? 0) + (profile.timeDeltas[i] ?? 0)));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const root: Frame = { name: "busy", file: "", total: 0, below: new Map() };
  const add = (id: number, into: Frame): number => {
    const node = nodes.get(id);
    if (!node || node.callFrame.functionName === "(idle)") return 0;
    const { functionName, url, lineNumber, columnNumber } = node.callFrame;
    const name = functionName || "(anonymous)";
    const file = url.startsWith("file:") ? sourceOf(url, lineNumber + 1, columnNumber + 1) : url;
    const key = `${name} ${file}`;
    const frame = into.below.get(key) ?? { name, file, total: 0, below: new Map() };
    into.below.set(key, frame);
    const total = (node.children ?? []).reduce((sum, child) => sum + add(child, frame), self.get(id) ?? 0);
    frame.total += total;
    return total;
  };
  const [first] = profile.nodes;
  root.total = (first?.children ?? []).reduce((sum, id) => sum + add(id, root), 0);
  return root;
}

export function flameGraph(title: string, root: Frame): string {
  const rects: string[] = [];
  let deepest = 0;
  const draw = (frame: Frame, x: number, depth: number) => {
    deepest = Math.max(deepest, depth);
    const wide = (width * frame.total) / root.total;
    rects.push(box(frame, x, depth, wide, root.total));
    let left = x;
    for (const child of [...frame.below.values()].toSorted((one, other) => other.total - one.total)) {
      if (child.total / root.total < shareMin) break;
      draw(child, left, depth + 1);
      left += (width * child.total) / root.total;
    }
  };
  if (root.total > 0) draw(root, 0, 0);
  const height = top + (deepest + 1) * rowHeight + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, monospace" font-size="10">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="6" y="16" font-size="13" fill="#111111">${escaped(title)}</text>
<text x="6" y="34" fill="#555555">yellow: our code · blue: packages · grey: Node and V8; width: share of the time in which the process was busy</text>
${rects.join("\n")}
</svg>
`;
}

function box({ name, file, total }: Frame, x: number, depth: number, wide: number, all: number): string {
  const y = top + depth * rowHeight;
  const label = name.slice(0, Math.max(0, Math.floor((wide - 4) / charWidth)));
  const text = label.length < 3 ? "" : `<text x="${(x + 3).toFixed(1)}" y="${y + 11}">${escaped(label)}</text>`;
  const said = `${name} ${file} ${((100 * total) / all).toFixed(1)} %`;
  return `<g><title>${escaped(said)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.5, wide - 0.4).toFixed(1)}" height="${rowHeight - 1}" fill="${colourOf(file)}"/>${text}</g>`;
}

function colourOf(file: string): string {
  if (file.includes("node_modules/")) return colours.packages;
  return file === "" || file.startsWith("node:") ? colours.engine : colours.ours;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
