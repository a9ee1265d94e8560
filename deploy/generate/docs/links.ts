// Resolves links of the guides, which are written for a Git host: a link to a page of /docs leads there, a link to any
// other file is shown as its name.
import { posix } from "node:path";
import { chapters, otherAddresses } from "./contents.ts";

/** Address of a guide's link in /docs; undefined: the file is in the repository only. */
export type Resolve = (href: string) => string | undefined;

/** Addresses of the guides by source. */
const pages: ReadonlyMap<string, string> = new Map(
  chapters.flatMap(({ guides }) => guides.map(({ source, address }) => [source, address] as const)),
);

export function linksOf(source: string): Resolve {
  return (href) => {
    if (/^(https?:|mailto:|#|\/)/.test(href)) return href;
    const [path = "", anchor] = href.split("#");
    const target = posix.normalize(posix.join(posix.dirname(source), path)).replace(/\/$/, "");
    const page = pages.get(target) ?? pages.get(`${target}/README.md`);
    if (page !== undefined) return anchor === undefined ? page : `${page}#${anchor}`;
    if (target.endsWith(".svg")) return imageAddress(target);
    const [prefix, address] = otherAddresses.find(([each]) => target === each || target.startsWith(`${each}/`)) ?? [];
    if (prefix === undefined || address === undefined) return undefined;
    const rest = target.slice(prefix.length + 1);
    return rest === "" ? address : `${address}#${slugOf(rest)}`;
  };
}

/** Address of a guide's picture in /docs. */
export function imageAddress(path: string): string {
  return `/docs/pictures/${path.split("/").at(-1)}`;
}

/** The anchor that Git hosts give a heading. */
export function slugOf(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}
