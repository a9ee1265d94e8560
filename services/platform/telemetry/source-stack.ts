// The stack of an error from a bundle (deploy/bundle), told in the places of its sources, by the maps that lie beside
// the bundle's files. Read when an error is logged: maps that Node keeps for every stack cost each process a fifth of
// its start and 3 MB.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

/** `at f (file:///…/chunk.mjs:12:34)`. */
const place = /(?<=^ {4}at .*)(file:\/\/\/\S+\.mjs):(\d+):(\d+)/gm;
/** A bundle has a hundred files; a text that looks like a stack may name any number. */
const mapsMax = 300;

const maps = new Map<string, SourceMap | undefined>();

/** The same where there is no map. */
export function sourceStack(stack: string): string {
  return stack.replace(place, (whole, url: string, line: string, column: string) => {
    const origin = mapOf(url)?.findOrigin(Number(line), Number(column));
    if (!origin || !("fileName" in origin)) return whole;
    return `${new URL(origin.fileName, url).href}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url) && maps.size < mapsMax) maps.set(url, readMap(url));
  return maps.get(url);
}

function readMap(url: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, "utf8")));
  } catch {
    return undefined; // not of a bundle
  }
}
