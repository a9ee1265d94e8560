// Onboarding drafts on a real PostgreSQL: a draft that is not submitted within 30 days is deleted.
import assert from "node:assert/strict";
import { createApplication, moveApplication } from "../../../services/merchant/flows/move-application.ts";
import { sweepDrafts } from "../../../services/merchant/store/applications.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { merchantContext } from "./context.ts";

const test = suite("onboarding drafts");
const fields = {
  applicantEmail: "ceo@acme.example",
  legalName: "Acme Ltd",
  tradingName: "Acme",
  countryCode: "DE",
  currencyCode: "EUR",
};

const context = fixture(
  test,
  () => merchantContext(),
  (context) => context.db.close(),
);

async function aged(days: number, command?: "submit"): Promise<string> {
  const { id } = await createApplication(context, fields);
  if (command) await moveApplication(context, id, command);
  await context.db.rows("update applications set created_at = now() - make_interval(days => $2) where id = $1", [
    id,
    days,
  ]);
  return id;
}

const stored = async () =>
  (await context.db.rows<{ id: string }>("select id from applications order by id")).map(({ id }) => id);

test("ids of applications created together are not predictable from each other", async () => {
  const made = await Promise.all(Array.from({ length: 50 }, () => createApplication(context, fields)));
  // The prefix, the time, and 50 of the 80 random bits.
  assert.equal(new Set(made.map(({ id }) => id.slice(0, 23))).size, 50);
  for (const { id } of made) await context.db.rows("delete from applications where id = $1", [id]);
});

test("a draft of 30 days is not found and deleted; younger and submitted ones stay", async () => {
  const [over, young, submitted] = [await aged(30), await aged(29), await aged(300, "submit")];
  await assert.rejects(moveApplication(context, over, "submit"), isRefusal("NOT_FOUND"));
  assert.equal(await sweepDrafts(context.db), false);
  assert.deepEqual(await stored(), [young, submitted]);
  assert.equal((await moveApplication(context, young, "submit")).status, "submitted");
  assert.equal((await moveApplication(context, submitted, "approve")).status, "approved");
});

test("a draft that is submitted during the sweep stays", async () => {
  const id = await aged(30);
  await context.db.transaction(async (tx) => {
    await tx.rows("update applications set status = 'submitted' where id = $1", [id]);
    await sweepDrafts(context.db);
  });
  assert.ok((await stored()).includes(id));
});

test.run();
