// A real Chromium for tests. On a machine without one the tests are skipped with a message; BROWSER_PATH names one.
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { atEndOfFiles, type Suite, type TestLimits } from "./suite.ts";

/** Absolute path of the browser; undefined when not installed. */
export const browserPath = [
  process.env.BROWSER_PATH ?? "",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => path !== "" && existsSync(path));

const artifacts = join(import.meta.dirname, "../artifacts");
/** A phone of the smaller kind. */
export const phone = { width: 360, height: 740 } as const;
export const desktop = { width: 1280, height: 800 } as const;

/** A visit: a context of its own, and what went wrong in its pages. */
export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
}

/** Tests in the process's browser, which starts with the first of them. */
export interface BrowserSuite {
  /** The body gets a fresh visit. Errors of scripts and breaches of a policy fail the test. */
  (name: string, body: (visit: Visit) => Promise<void>, options?: BrowserContextOptions, limits?: TestLimits): void;
  /** As above, but the body opens its visits itself. */
  alone(name: string, body: () => Promise<void>, limits?: TestLimits): void;
  open(options?: BrowserContextOptions): Promise<Visit & { close(): Promise<void> }>;
}

let browser: Promise<Browser> | undefined;

async function closeBrowser(): Promise<void> {
  const open = browser;
  browser = undefined;
  await (await open)?.close();
}

/** Adds browser tests to a suite. */
export function browserSuite(test: Suite): BrowserSuite {
  const contexts = new Set<BrowserContext>();
  const open = async (options: BrowserContextOptions = {}) => {
    browser ??= launch();
    const context = await (await browser).newContext({
      viewport: phone,
      locale: "en-IE",
      reducedMotion: "reduce",
      ...options,
    });
    contexts.add(context);
    context.once("close", () => contexts.delete(context));
    const problems: string[] = [];
    context.on("weberror", (error) => problems.push(error.error().message));
    context.on("console", (message) => {
      if (/Content Security Policy|Permissions policy/i.test(message.text())) problems.push(message.text());
    });
    context.on("dialog", (dialog) => void dialog.accept());
    const page = await context.newPage();
    const close = async () => {
      await context.close();
      if (problems.length > 0) throw new Error(problems.join("\n"));
    };
    return { context, page, close };
  };
  test.after(async () => void (await Promise.all([...contexts].map((context) => context.close()))));
  atEndOfFiles(test, closeBrowser);
  const alone = (name: string, body: () => Promise<void>, limits?: TestLimits) => {
    if (browserPath) test(name, body, limits);
    else test.skip(name, "no Chromium found; BROWSER_PATH can name one");
  };
  const add = (
    name: string,
    body: (visit: Visit) => Promise<void>,
    options?: BrowserContextOptions,
    limits?: TestLimits,
  ) => {
    const visiting = async () => {
      const visit = await open(options);
      try {
        await body(visit);
      } catch (error) {
        await takeScreenshot(visit.page, `failed-${name.replace(/\W+/g, "-").slice(0, 60)}`).catch(() => {});
        await visit.context.close();
        throw error;
      }
      await visit.close();
    };
    alone(name, visiting, limits);
  };
  return Object.assign(add, { open, alone });
}

async function launch(): Promise<Browser> {
  if (!browserPath) throw new Error("no Chromium found");
  return await chromium.launch({
    executablePath: browserPath,
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--disable-dev-shm-usage", "--disable-gpu"],
  });
}

/** Keeps a picture of the whole page under test/artifacts. @returns it, as PNG */
export async function takeScreenshot(page: Page, name: string): Promise<Buffer> {
  await mkdir(artifacts, { recursive: true });
  return await page.screenshot({ path: join(artifacts, `${name}.png`), fullPage: true });
}
