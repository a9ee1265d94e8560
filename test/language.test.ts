// The language of the code, the tests and the pages: no word of the list below in a name, comment or text, no comment
// that opens with a relative clause, and no exported function of one word.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { suite } from "./harness/suite.ts";

const root = join(import.meta.dirname, "..");
const test = suite("language", { timeoutMs: 60_000 });

/** Each has a plain word: tell: notify, log, report; hear: receive; say: state; wish: input; stands: is. */
const words =
  "told|tells?|telling|heard|hears?|hearing|anew|somebody|nobody|whoever|besides?|aside|wish(?:es|ed)?|says?|saying|said|stands";
const phrases = [
  "for ever",
  "once more",
  "(?:is|are) none",
  "none of (?:it|them|its)",
  "of it",
  "(?:take|takes|taken|took|taking) in",
  "(?:give|gives|given|gave|giving) (?:it |them )?back",
  "so many",
  "of before",
  "at the door",
  "ways? in",
  "look(?:s|ed|ing)? (?:at|after)",
  "turns? out",
  "comes? to be",
].join("|");
const banned = new RegExp(String.raw`\b(?:${words}|${phrases})\b`, "gi");

/** Names that keep such a word: protos, columns and settings are public, and `nobody` is a user of Unix. */
const publicNames = new RegExp(
  [
    String.raw`DOOR_\w+|[Rr]emoveWayIn|GIVE_BACK|[Tt]aken_?In|taken_in|[Tt]ell(?:Event|Payment)|needs_?[wW]ay_?[iI]n`,
    "way_in_added|heard_?(?:version|at|Version|At)|expiry_told_at|api_keys_to_tell|given?_back|said_actor",
    '(?:next_look|looked)_at|tell-expiring-keys|"at the door"|["`]nobody["`]|</?aside|"aside"|data-beside',
    String.raw`class="beside"|\bis None\b|assertIsNone`,
  ].join("|"),
  "g",
);

/** Text of others, records of the past, languages other than English, and migrations, which never change. */
const exempt =
  /^proto\/(?:gen|google|buf|grpc)\/|^docs\/(?:releases|decisions)\/|^gateway\/web\/releases\/|^(?:package-lock\.json|LICENSE|CHANGELOG\.md|test\/language\.test\.ts)$|\/texts\/(?!en\b)[a-z-]+\.json$|\/schema\/[^/]*\.sql$|\.(?:webp|svg|png|ico)$/;

const isCode = /\.(?:[cm]?[jt]sx?|css|proto|py)$/;
const comment = /^\s*(?:\/\/|\/?\*+)\s*(.*)/;
/** A sentence that opens with a relative clause; a question may. */
const clause = /(?:^|\. )(?:What|Who|Whoever|Whose|Whom)\b(?![^.]*\?)/;

function offencesIn(path: string, line: string): string[] {
  const plain = line
    .replace(publicNames, "")
    .replace(/([a-z0-9])(?=[A-Z])/g, "$1 ")
    .replaceAll("_", " ");
  const [, text = ""] = (isCode.test(path) && comment.exec(line)) || [];
  return [...(plain.match(banned) ?? []), ...(clause.exec(text)?.slice(0, 1) ?? [])];
}

test("no name, comment, log line, test title or page uses a banned word or opens with a relative clause", () => {
  const paths = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  const offences = paths
    .filter((path) => !exempt.test(path))
    .flatMap((path) =>
      readFileSync(join(root, path), "utf8")
        .split("\n")
        .flatMap((line, at) => offencesIn(path, line).map((found) => `${path}:${at + 1}: "${found}"`)),
    );
  assert.ok(offences.length === 0, `\n  ${offences.join("\n  ")}\n  ${offences.length} in all`);
});

/** `html` is a tag of templates; the others are words of tests, as in uvu. */
const oneWord = new Set(["html", "suite", "fixture", "eventually"]);

test("an exported function of the code has a name of at least two words", () => {
  const paths = execFileSync("git", ["ls-files", "services/*.ts", "gateway/*.ts", "deploy/*.ts", "test/*.ts"], {
    cwd: root,
    encoding: "utf8",
  });
  const names = paths
    .trim()
    .split("\n")
    .filter((path) => !/^gateway\/(?:web|site|clients)\/|\.test\.ts$/.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(root, path), "utf8");
      return [...text.matchAll(/^export (?:async )?function\*? ([a-z]+)[(<]/gm)].map(([, name = ""]) => ({
        path,
        name,
      }));
    });
  const offences = names.filter(({ name }) => !oneWord.has(name)).map(({ path, name }) => `${path}: ${name}`);
  assert.ok(offences.length === 0, `\n  ${offences.join("\n  ")}`);
});

test.run();
