// Takes the pictures of README.md with PICTURES=1 as WebP, which needs a quarter of a PNG's bytes.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { merchantApi } from "../harness/api.ts";
import type { Visit } from "../harness/browser.ts";
import { cards } from "../harness/pay.ts";
import { makePurchase } from "./purchases.ts";

const isEnabled = process.env.PICTURES === "1";
const docs = join(import.meta.dirname, "../../docs");
const quality = 82; // letters stay sharp

const orders = [
  [1_890, "LB-1042", "ada@example.com", cards.succeeds],
  [7_450, "LB-1043", "grace@example.org", cards.succeeds],
  [2_400, "LB-1044", "alan@example.net", cards.declined],
  [12_990, "LB-1045", "mary@example.com", cards.succeeds],
  [3_150, "LB-1046", "linus@example.org", cards.disputedLater],
  [5_600, "LB-1047", "barbara@example.net", cards.succeeds],
] as const;

/** Adds payments to the list. */
export async function fillForPictures(stack: StackInfo): Promise<void> {
  if (!isEnabled) return;
  const merchant = { api: merchantApi(stack.gateway, stack.api_key) };
  for (const [amount, reference, customer_email, card] of orders) {
    const change = { amount, currency: "USD", description: "Cookbooks", reference, customer_email };
    await makePurchase(stack, merchant, change, card);
  }
}

/** Stores a picture of the window. */
export async function drawPicture({ context, page }: Pick<Visit, "context" | "page">, name: string): Promise<void> {
  if (!isEnabled) return;
  const devtools = await context.newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality });
  await devtools.detach();
  await writeFile(join(docs, `${name}.webp`), Buffer.from(data, "base64"));
}
