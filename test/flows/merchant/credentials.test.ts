// Connector accounts on a real PostgreSQL: stored once, with encrypted credentials.
import assert from "node:assert/strict";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { deactivateAccount, saveAccount } from "../../../services/merchant/flows/manage-connector.ts";
import { unsealCredentials } from "../../../services/merchant/flows/open-account.ts";
import { findAccountsByExternal, listConnectors } from "../../../services/merchant/store/connectors.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { merchantContext, newMerchant } from "./context.ts";

const test = suite("credentials of connector accounts");
const environment = Environment.SANDBOX;

const context = fixture(
  test,
  () => merchantContext(),
  (context) => context.db.close(),
);

const account = (merchantId: string, externalAccountId: string, change: object = {}) => ({
  merchantId,
  environment,
  connector: "stripe",
  externalAccountId,
  credentials: { secret_key: "sk_test_very_secret" },
  surfaces: ["embedded", "redirect"],
  makePrimary: false,
  ...change,
});

test("saving an account many times at once stores it once, with encrypted credentials", async () => {
  const merchantId = await newMerchant(context);
  const saved = await Promise.all(
    Array.from({ length: 8 }, () => saveAccount(context, account(merchantId, "acct_one", { makePrimary: true }))),
  );
  assert.equal(new Set(saved.map(({ id }) => id)).size, 1);
  const listed = await listConnectors(context.db, merchantId, environment);
  assert.deepEqual(
    listed.map((each) => [each.connector, each.isPrimary]),
    [
      ["stripe", true],
      ["simulator", false],
    ],
  );
  const [stored] = await findAccountsByExternal(context.db, "stripe", "acct_one");
  assert.ok(stored && !stored.credentials.includes("very_secret"));
  assert.deepEqual(unsealCredentials(context.vault, stored), { secret_key: "sk_test_very_secret" });
});

test("an account belongs to one merchant, in one or both environments", async () => {
  const [one, two] = [await newMerchant(context), await newMerchant(context)];
  await saveAccount(context, account(one, "acct_shared"));
  await assert.rejects(saveAccount(context, account(two, "acct_shared")), refused("CONNECTOR_NOT_ELIGIBLE"));
  await saveAccount(context, account(one, "acct_shared", { environment: Environment.LIVE }));
  const both = await findAccountsByExternal(context.db, "stripe", "acct_shared");
  assert.deepEqual(
    both.map(({ connector }) => connector.environment),
    [Environment.SANDBOX, Environment.LIVE],
  );
});

test("a reactivated account keeps its id and is no longer primary", async () => {
  const merchantId = await newMerchant(context);
  const { id } = await saveAccount(context, account(merchantId, "acct_back", { makePrimary: true }));
  const named = { merchantId, environment, connectorId: id };
  for (let i = 0; i < 2; i++) {
    const inactive = await deactivateAccount(context, named);
    assert.deepEqual([inactive.isActive, inactive.isPrimary], [false, false]);
  }
  const back = await saveAccount(context, account(merchantId, "acct_back"));
  assert.deepEqual([back.id, back.isActive, back.isPrimary], [id, true, false]);
  await assert.rejects(
    deactivateAccount(context, { ...named, merchantId: await newMerchant(context) }),
    refused("NOT_FOUND"),
  );
});

test.run();
