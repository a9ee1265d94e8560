// Onboarding drafts that nobody submits, against a real PostgreSQL with the rights of the service: over after 30 days, and then gone.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { HashKeys } from "#platform/hash-keys.ts";
import { createLog } from "#platform/log.ts";
import { MappedDatabase } from "#platform/mapped-database.ts";
import { Outbox } from "#platform/outbox.ts";
import { Vault } from "#platform/secret.ts";
import { createApplication, moveApplication } from "../../services/merchant/flows/move-application.ts";
import { ApplicationEntity, sweepDrafts } from "../../services/merchant/store/applications.ts";
import { BrandingEntity } from "../../services/merchant/store/brandings.ts";
import { MerchantEntity } from "../../services/merchant/store/merchants.ts";
import { freshDatabase } from "../harness/database.ts";
import { suite } from "../harness/suite.ts";
import { refused } from "./service-config.ts";

const test = suite("onboarding drafts");
const entities = [MerchantEntity, BrandingEntity, ApplicationEntity];
const fields = {
  applicantEmail: "ceo@acme.example",
  legalName: "Acme Ltd",
  tradingName: "Acme",
  countryCode: "DE",
  currencyCode: "EUR",
};
const log = createLog("test", "error");
let db: MappedDatabase;

test.before(async () => {
  const { serviceUrl: url } = await freshDatabase("merchant");
  db = await MappedDatabase.open({ url, name: "test", log, entities });
});
test.after(() => db.close());

const context = () => ({
  db,
  outbox: new Outbox({ namespace: "test", source: "merchant" }),
  vault: new Vault(new Map([["k1", randomBytes(32)]])),
  log,
  hashKeys: new HashKeys(new Map([["", randomBytes(32)]])),
  simulator: { secretKey: "sim_sk_test", webhookSecret: "whsec" },
});

async function aged(days: number, command?: "submit"): Promise<string> {
  const { id } = await createApplication(context(), fields);
  if (command) await moveApplication(context(), id, command);
  await db.rows("update applications set created_at = now() - make_interval(days => $2) where id = $1", [id, days]);
  return id;
}

const stored = async () =>
  (await db.rows<{ id: string }>("select id from applications order by id")).map(({ id }) => id);

test("a draft of 30 days is not found and swept; a younger one and whatever was submitted stay", async () => {
  const [over, young, submitted] = [await aged(30), await aged(29), await aged(300, "submit")];
  await assert.rejects(moveApplication(context(), over, "submit"), refused("NOT_FOUND"));
  assert.equal(await sweepDrafts(db), false);
  assert.deepEqual(await stored(), [young, submitted]);
  assert.equal((await moveApplication(context(), young, "submit")).status, "submitted");
  assert.equal((await moveApplication(context(), submitted, "approve")).status, "approved");
});

test("a draft that is being submitted while the sweep runs is not taken away", async () => {
  const id = await aged(30);
  await db.transaction(async (tx) => {
    await tx.rows("update applications set status = 'submitted' where id = $1", [id]);
    await sweepDrafts(db);
  });
  assert.ok((await stored()).includes(id));
});

test.run();
