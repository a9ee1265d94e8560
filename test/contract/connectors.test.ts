// docs/contract.md §8: connectors; docs/contract.md §8.
import assert from "node:assert/strict";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { contractSuite } from "./caller.ts";
import { changeConnector } from "./operator.ts";

const { test, running, api } = contractSuite("connectors");
let cid: string;

test.before(async () => {
  cid = (await api.call("listConnectors", 200)).text("data.0.id");
});

// Proves listConnectors: response
test("docs/contract.md §8: a connector has its fields and no credentials", async () => {
  const answer = await api.call("listConnectors", 200);
  const [connector] = answer.list("data").map(Object);
  assert.match(connector.id, /^mco_/);
  assert.match(connector.external_account_id, /^acct_/);
  const { id, external_account_id: account, ...rest } = connector;
  assert.ok(id && account);
  assert.deepEqual(rest, {
    connector: "simulator",
    environment: "sandbox",
    is_default: true,
    is_active: true,
    can_be_primary: true,
    allowed_surfaces: ["embedded", "hosted", "redirect"],
    default_surface: "embedded",
    surface: "embedded",
  });
  assert.ok(!/secret|credential/i.test(answer.raw));
  const live = await freshMerchant(running, { environment: Environment.LIVE });
  assert.deepEqual((await api.call("listConnectors", 200, { as: live.apiKey })).body, { data: [] });
});

// Proves updateConnector: surface, primary, response
test("docs/contract.md §8: a chosen surface is what new sessions get", async () => {
  const changed = await api.call("updateConnector", 200, { path: { cid }, body: { selected_surface: "hosted" } });
  assert.deepEqual(
    [changed.at("selected_surface"), changed.at("surface"), changed.at("default_surface")],
    ["hosted", "hosted", "embedded"],
  );
  const primary = await api.call("updateConnector", 200, { path: { cid }, body: { is_default: true } });
  assert.deepEqual([primary.at("is_default"), primary.at("surface")], [true, "hosted"]);
});

test("docs/contract.md §2: an empty or wrong body is invalid_body", async () => {
  for (const body of [
    {},
    { colour: 1 },
    { selected_surface: "popup" },
    { selected_surface: null },
    { is_default: false },
  ]) {
    await api.refused("updateConnector", 400, "invalid_body", { path: { cid }, body });
  }
});

test("docs/contract.md §8: inactive, never primary, or surface not allowed: connector_not_eligible", async () => {
  const own = await freshMerchant(running);
  const id = (await api.call("listConnectors", 200, { as: own.apiKey })).text("data.0.id");
  const refused = (body: object) =>
    api.refused("updateConnector", 422, "connector_not_eligible", { as: own.apiKey, path: { cid: id }, body });
  await changeConnector(running, id, "allowed_surfaces = '{embedded}'");
  await refused({ selected_surface: "redirect" });
  await changeConnector(running, id, "is_active = false");
  await refused({ is_default: true });
});

test("docs/contract.md §2: foreign, unknown and malformed ids are not_found", async () => {
  const stranger = await freshMerchant(running);
  const body = { selected_surface: "hosted" };
  await api.refused("updateConnector", 404, "not_found", { as: stranger.apiKey, path: { cid }, body });
  for (const id of ["mco_01jd3v9q6k8m2n4p6r8t0v2x4z", "mco_", "x".repeat(200)]) {
    await api.refused("updateConnector", 404, "not_found", { path: { cid: id }, body });
  }
});

// Proves updateConnector: errors
test("every described code of these operations was seen", () =>
  api.sawEverything([], "listConnectors", "updateConnector"));

test.run();
