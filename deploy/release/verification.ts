// Verifies a release folder without network: every file against SHA256SUMS and the statement, and the signature.
import type { KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { membersOf } from "#platform/values/unchecked.ts";
import { type Digests, digestsOf, parseSums, signatureName, statementName, sumsName } from "./checksums.ts";
import { statementTypes } from "./provenance.ts";
import { isSignedBy } from "./signature.ts";

export interface Problem {
  readonly file: string;
  readonly problem: string;
}

/** @param key without it the signature is not checked. @returns empty: the folder is what was released */
export async function releaseProblems(folder: string, key: KeyObject | undefined): Promise<Problem[]> {
  const sums = readIfThere(join(folder, sumsName));
  if (sums === undefined) return [{ file: sumsName, problem: "is missing" }];
  const expected = parseSums(sums.toString());
  if (expected === undefined) return [{ file: sumsName, problem: "is damaged" }];
  const found = await digestsOf(folder, [sumsName, signatureName]);
  return [
    ...(key ? signatureProblems(folder, sums, key) : []),
    ...differences(expected, found, sumsName),
    ...statementProblems(folder, found),
  ];
}

function readIfThere(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined;
}

function signatureProblems(folder: string, sums: Buffer, key: KeyObject): Problem[] {
  const signature = readIfThere(join(folder, signatureName));
  if (signature === undefined) return [{ file: signatureName, problem: "is missing: the release is not signed" }];
  if (isSignedBy(key, sums, signature)) return [];
  return [{ file: sumsName, problem: "was changed, or signed with another key" }];
}

function differences(expected: Digests, found: Digests, by: string): Problem[] {
  return [
    ...[...expected.keys()].filter((file) => !found.has(file)).map((file) => ({ file, problem: "is missing" })),
    ...[...found.keys()].filter((file) => !expected.has(file)).map((file) => ({ file, problem: `is not in ${by}` })),
    ...[...expected]
      .filter(([file, digest]) => found.has(file) && found.get(file) !== digest)
      .map(([file]) => ({ file, problem: `differs from ${by}` })),
  ];
}

function statementProblems(folder: string, found: Digests): Problem[] {
  const text = readIfThere(join(folder, statementName));
  if (text === undefined) return [{ file: statementName, problem: "is missing" }];
  const subjects = subjectsOf(text.toString());
  if (subjects === undefined) return [{ file: statementName, problem: "is no provenance statement" }];
  const described = new Map([...found].filter(([file]) => file !== statementName));
  return differences(subjects, described, statementName);
}

function subjectsOf(text: string): Digests | undefined {
  try {
    const { _type, predicateType, subject } = membersOf(JSON.parse(text));
    if (_type !== statementTypes.statement || predicateType !== statementTypes.predicate) return undefined;
    if (!Array.isArray(subject)) return undefined;
    return new Map(
      subject.map((each: unknown) => {
        const { name, digest } = membersOf(each);
        return [String(name), String(membersOf(digest).sha256)];
      }),
    );
  } catch {
    return undefined;
  }
}
