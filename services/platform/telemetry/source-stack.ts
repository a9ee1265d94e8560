// The stack of an error from a bundle (deploy/bundle), told in the places of its sources, by the maps that lie beside
// the bundle's files. Read when an error is logged: maps that Node keeps for every stack cost each process a fifth of
// its start and 3 MB.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

/** In `    at f (file:///…/chunk.mjs:12:34)`. */
const locationForm = /(file:\/\/\/[^\s()]+\.mjs):(\d+):(\d+)/;
/** A message may have lines of any length. */
const frameCharsMax = 1_000;

/** Those that were found; a text that looks like a stack may name any number that is not there. */
const maps = new Map<string, SourceMap>();

/** The same where there is no map. */
export function sourceStack(stack: string): string {
  const isFrame = (line: string) => line.startsWith("    at ") && line.length <= frameCharsMax;
  return stack
    .split("\n")
    .map((line) => (isFrame(line) ? line.replace(locationForm, inSource) : line))
    .join("\n");
}

function inSource(whole: string, url: string, line: string, column: string): string {
  const origin = mapOf(url)?.findOrigin(Number(line), Number(column));
  if (!origin || !("fileName" in origin)) return whole;
  return `${new URL(origin.fileName, url).href}:${origin.lineNumber}:${origin.columnNumber}`;
}

function mapOf(url: string): SourceMap | undefined {
  const map = maps.get(url) ?? readMap(url);
  if (map) maps.set(url, map);
  return map;
}

function readMap(url: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, "utf8")));
  } catch {
    return undefined; // not of a bundle
  }
}
