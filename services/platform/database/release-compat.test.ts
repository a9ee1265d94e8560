// Releases N and N−1 run on one schema: a service accepts a newer schema, and no migration removes anything that the
// previous release uses.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "../../../test/harness/suite.ts";
import type { Source } from "../../services.ts";
import { checkSchema } from "./schema-state.ts";

const test = suite("release compatibility");
const root = join(import.meta.dirname, "../../..");
const services: readonly Source[] = ["checkout", "payments", "merchant", "webhook"];

/** Changes that would break a running previous release. */
const takesAway = [
  /\bdrop\s+(table|column|type|view|sequence|schema)\b/i,
  /\brename\s+(to|column|constraint)\b/i,
  /\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b/i,
  /\balter\s+column\s+\w+\s+(set\s+not\s+null|drop\s+default)\b/i,
  /\badd\s+column\s+(?:(?!\bdefault\b|\bgenerated\b|,|;)[\s\S])*\bnot\s+null\b(?!\s+(?:default|generated))/i,
];

/** Statements that run when the file is applied. Function bodies run later. */
function statementsOf(sql: string): string {
  const body = /(\bcreate\s+(?:or\s+replace\s+)?function\b[\s\S]*?\bas\s+)(\$\w*\$)[\s\S]*?\2/gi;
  return sql.replace(/--.*$/gm, "").replace(body, "$1$2$2");
}

test("a service starts on a newer schema and not on an older one", async () => {
  for (const service of services) {
    const own = globSync(`services/{platform/database/schema,${service}/store/schema}/*.sql`, { cwd: root });
    const names = own.map((file) => `${file.includes("/platform/") ? "platform" : service}/${file.split("/").at(-1)}`);
    const sql = (known: string[]) => ({ rows: async <Row>() => known.map((name) => ({ name })) as Row[] });
    await checkSchema(sql([...names, `${service}/9999-of-the-next-release.sql`]), service);
    await assert.rejects(checkSchema(sql(names.slice(1)), service), /run the migrate command first/);
  }
});

test("no migration drops, renames or narrows anything that the previous release uses", () => {
  const offences = globSync("services/{*/store,platform/database}/schema/*.sql", { cwd: root }).flatMap((file) => {
    const text = statementsOf(readFileSync(join(root, file), "utf8"));
    return takesAway.flatMap((rule) => (rule.exec(text)?.[0] ? [`${file}: ${rule.exec(text)?.[0]}`] : []));
  });
  assert.deepEqual(offences, []);
});

test("the rule detects each kind of removal and accepts each kind of addition", () => {
  const isRefused = (sql: string) => takesAway.some((rule) => rule.test(statementsOf(sql)));
  for (const sql of [
    "alter table a drop column b",
    "alter table a rename column b to c",
    "alter table a alter column b type bigint",
    "alter table a alter column b set not null",
    "alter table a add column b text not null",
    "do $$ begin drop table a; end $$",
  ]) {
    assert.ok(isRefused(sql), sql);
  }
  for (const sql of [
    "create table a (b text not null)",
    "alter table a add column b text",
    "alter table a add column b text not null default ''",
    "alter table a add column b text default '' not null",
    "-- drop table a\ncreate index i on a (b)",
    "create function f() returns void language plpgsql as $$ begin execute 'drop table ' || day; end $$",
  ]) {
    assert.ok(!isRefused(sql), sql);
  }
});

test.run();
