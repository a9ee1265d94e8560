// A merchant's profile and branding have one copy per environment: changes of one are invisible in the other, and the
// previous release, which has one copy, works on the same database.
import assert from "node:assert/strict";
import pg from "pg";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { migrateDatabase } from "../../../deploy/cli/setup/migrate-database.ts";
import { freshDatabase } from "../../harness/database.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { startPeopleOverRpc } from "./people-over-rpc.ts";

const test = suite("environments of a merchant");
const { SANDBOX, LIVE, UNSPECIFIED } = Environment;

const rpc = fixture(test, () => startPeopleOverRpc());
const merchants = fixture(test, () => rpc.merchants);

/** In this environment: trading name, e-mail, phone, name on pages, display name, theme. */
async function shown(merchantId: string, environment: Environment): Promise<string[]> {
  const { merchant } = await merchants.getMerchant({ merchantId, environment });
  const { branding, merchantName } = await merchants.getBranding({ merchantId, environment });
  assert(merchant && branding);
  return [merchant.name, merchant.email, merchant.phone, merchantName, branding.displayName, branding.theme];
}

async function assertShown(merchantId: string, wanted: { sandbox: string[]; live: string[] }): Promise<void> {
  assert.deepEqual({ sandbox: await shown(merchantId, SANDBOX), live: await shown(merchantId, LIVE) }, wanted);
  assert.deepEqual(await shown(merchantId, UNSPECIFIED), wanted.live, "without an environment the live copy is read");
}

test("a change without an environment is made in both", async () => {
  const merchantId = await rpc.newMerchant();
  await merchants.updateProfile({ merchantId, environment: LIVE, name: "Both" });
  await merchants.updateProfile({ merchantId, environment: SANDBOX, email: "trial@acme.example" });
  await merchants.updateProfile({ merchantId, name: "Both" });
  await merchants.updateBranding({ merchantId, environment: LIVE, theme: "dark" });
  await merchants.updateBranding({ merchantId, displayName: "For all", theme: "dark" });
  await assertShown(merchantId, {
    sandbox: ["Both", "trial@acme.example", "", "Both", "For all", "dark"],
    live: ["Both", "ops@acme.example", "", "Both", "For all", "dark"],
  });
  const unknown = newId("merchant");
  await assert.rejects(merchants.updateProfile({ merchantId: unknown, name: "x" }), isRefusal("NOT_FOUND"));
  for (const environment of [SANDBOX, LIVE, UNSPECIFIED]) {
    await assert.rejects(merchants.getBranding({ merchantId: unknown, environment }), isRefusal("NOT_FOUND"));
    await assert.rejects(
      merchants.updateBranding({ merchantId: unknown, environment, theme: "dark" }),
      isRefusal("NOT_FOUND"),
    );
  }
});

// The statements of release 0.1.0, which has one copy.
const brandingColumns = `display_name, tagline, logo_url, accent_color, secondary_color, support_email, button_style, background_style,
  theme, font_family`;

async function addAsBefore(on: pg.Client, merchantId: string): Promise<void> {
  await on.query(
    `insert into merchants (id, name, legal_name, status, country, currency, email, phone, website)
     values ($1, 'Before', 'Before Ltd', 'active', 'DE', 'EUR', 'before@acme.example', '+4930123456', 'https://acme.example')`,
    [merchantId],
  );
  await on.query(
    `insert into brandings (merchant_id, ${brandingColumns})
     values ($1, 'Shop', 'tag', '', '#0a7d4f', '', '', 'pill', 'solid', 'dark', 'lato')`,
    [merchantId],
  );
}
const asBefore = ["Before", "before@acme.example", "+4930123456", "Before", "Shop", "dark"];

test("writes of the previous release change both environments, and other fields stay", async () => {
  const merchantId = newId("merchant");
  await addAsBefore(rpc.database, merchantId);
  await assertShown(merchantId, { sandbox: asBefore, live: asBefore });
  await merchants.updateProfile({ merchantId, environment: SANDBOX, email: "trial@acme.example" });
  await merchants.updateBranding({ merchantId, environment: SANDBOX, displayName: "Try me" });
  await rpc.database.query("update merchants set name = 'Renamed', phone = '' where id = $1", [merchantId]);
  await rpc.database.query("update brandings set theme = 'auto' where merchant_id = $1", [merchantId]);
  await assertShown(merchantId, {
    sandbox: ["Renamed", "trial@acme.example", "", "Renamed", "Try me", "auto"],
    live: ["Renamed", "before@acme.example", "", "Renamed", "Shop", "auto"],
  });
});

test("the migration copies the existing profile and branding to both environments", async () => {
  const { url } = await freshDatabase("merchant");
  const own = new pg.Client(url);
  await own.connect();
  // The previous schema.
  await own.query(`drop table sandbox_profiles, sandbox_brandings;
    drop function begin_sandbox_profile, begin_sandbox_branding, follow_in_sandbox_profile, follow_in_sandbox_branding cascade;
    delete from schema_migrations where name = 'merchant/0007-environment-copies.sql'`);
  const merchantId = newId("merchant");
  await addAsBefore(own, merchantId);
  assert.deepEqual((await migrateDatabase({ databaseUrl: url, service: "merchant" })).applied, [
    "merchant/0007-environment-copies.sql",
  ]);
  const rows = async (text: string) => (await own.query(text)).rows;
  assert.deepEqual(
    await rows("select merchant_id, name, legal_name, email, phone, website from sandbox_profiles"),
    await rows("select id as merchant_id, name, legal_name, email, phone, website from merchants"),
  );
  assert.equal((await rows("select from sandbox_profiles")).length, 1);
  assert.deepEqual(
    await rows(`select merchant_id, ${brandingColumns} from sandbox_brandings`),
    await rows(`select merchant_id, ${brandingColumns} from brandings`),
  );
  await own.end();
});

test.run();
