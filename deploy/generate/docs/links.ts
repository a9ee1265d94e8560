// Links of the guides, which are written for a Git host: to another page of /docs they lead there, to a file that is
// not served they become its name. So that the same text works in both places.
import { posix } from "node:path";
import { chapters, otherAddresses } from "./contents.ts";

/** Where a link of a guide leads in /docs; undefined: nowhere, the file is in the repository alone. */
export type Resolve = (href: string) => string | undefined;

/** Every guide's address by its source. */
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

/** A picture of the guides, as /docs serves it. */
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
