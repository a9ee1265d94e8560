// The set-up of a browser test: a stack, a fresh merchant and, if wanted, a shop that embeds the SDK.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { type BrowserSuite, browserSuite } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { sharedStack } from "../harness/stack.ts";
import { type Suite, suite } from "../harness/suite.ts";
import { type Shop, startShop } from "./shop/server.ts";

/** Filled before the first test. */
export class Site {
  stack!: StackInfo;
  merchant!: TestMerchant;
  shop!: Shop;
}

export interface PageSuite {
  readonly test: Suite;
  readonly inBrowser: BrowserSuite;
  readonly site: Site;
}

/** @param options branding of the merchant; origins of scripts that the shop's policy allows, which starts a shop */
export function pageSuite(
  name: string,
  options: { branding?: Record<string, unknown>; shop?: readonly string[]; timeoutMs?: number } = {},
): PageSuite {
  const test = suite(name, { timeoutMs: options.timeoutMs ?? 120_000, hookTimeoutMs: 120_000 });
  const site = new Site();
  test.before(async () => {
    site.stack = await sharedStack();
    site.merchant = await freshMerchant(site.stack);
    if (options.branding) (await site.merchant.api.patch("/v1/merchants/me/branding", options.branding)).expect(200);
    if (options.shop) site.shop = await startShop(site.stack, site.merchant, options.shop);
  });
  if (options.shop) test.after(() => site.shop?.close());
  return { test, inBrowser: browserSuite(test), site };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Violations that axe finds, without the content of iframes. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return await page.evaluate(`axe.run(document, { iframes: false }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
}
