// Creates a payment link. Sending the form again leads to the same link, and its mail is sent once.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { clockMs } from "#platform/values/clock.ts";
import { asFailure } from "#platform/values/failure.ts";
import type { PaymentLink } from "#proto/checkout/v1/links_pb.ts";
import { html } from "../../../../html.ts";
import { languages } from "../../../../web/languages.ts";
import type { Form } from "../../../http/form.ts";
import { freshKey, onceField, onceOf } from "../../../http/once.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import type { Problems } from "../../../view/fields.ts";
import { unlessAway } from "../../../view/section.ts";
import { emptyLink, linkForm, readLink, type TypedLink, typedLink } from "./link-form.ts";
import { emailLink } from "./mail.ts";

const action = "links.write";
const about = "link";
const locales = [...languages.keys()];

/** `keepsKey`: the outcome is unknown, so a retry uses the same key. */
const refusals = {
  FORBIDDEN: { text: "forbidden", keepsKey: false },
  INVALID_BODY: { text: "refused", keepsKey: false },
  IDEMPOTENCY_KEY_REUSE: { text: "changed", keepsKey: false },
  IDEMPOTENCY_CONFLICT: { text: "unknown", keepsKey: true },
  SERVICE_UNAVAILABLE: { text: "unknown", keepsKey: true },
} as const;

export function createRoutes(context: ConsoleContext): void {
  merchantPage(context, "/links/new", action, async (visit) => {
    const typed = { ...emptyLink, currency: await currencyOf(context, visit) };
    return formPage(visit, typed, freshKey(about, visit.merchantId), []);
  });
  merchantForm(context, "/links/new", { action }, (visit, form) => create(context, visit, form));
}

/** The merchant's currency; empty during an outage. */
async function currencyOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit): Promise<string> {
  const found = await unlessAway(() => peers.merchants.getMerchant({ merchantId, environment }));
  return found?.value.merchant?.currency ?? "";
}

async function create(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, language, base, session } = visit;
  const typed = typedLink(form);
  const read = readLink(typed, language, locales);
  if (!("order" in read)) return formPage(visit, typed, form.raw(onceField), read.problems);
  const { order, lifeSeconds, mailTo } = read;
  const idempotency = onceOf(form, [about, merchantId], [order, lifeSeconds]);
  const expiresAt = lifeSeconds && timestampFromDate(new Date(clockMs() + lifeSeconds * 1_000));
  const input = { merchantId, environment, ...order, idempotency, createdBy: session.person?.id ?? "" };
  let link: PaymentLink | undefined;
  try {
    ({ link } = await context.peers.links.createPaymentLink({ ...input, ...(expiresAt && { expiresAt }) }));
  } catch (error) {
    const refusal = new Map(Object.entries(refusals)).get(asFailure(error).reason);
    if (!refusal) throw error;
    const key = refusal.keepsKey ? idempotency.key : freshKey(about, merchantId);
    return formPage(visit, typed, key, [["amount", textsOf(language).links[refusal.text]]]);
  }
  if (!link) throw new Error("the payment link is missing");
  const done = mailTo === "" ? "link-created" : await emailLink(context, visit, link, mailTo, idempotency.key);
  return { go: `${base}/links/${link.id}`, done };
}

function formPage(visit: MerchantVisit, typed: TypedLink, key: string, problems: Problems): Page {
  const texts = textsOf(visit.language).links;
  const names = new Intl.DisplayNames(visit.language, { type: "language" });
  const named = locales.map((tag) => [tag, names.of(tag) ?? tag] as const);
  return {
    title: texts.newTitle,
    status: problems.length > 0 ? 422 : 200,
    body: html`<div class="panel form-panel link-form"><h1>${texts.newTitle}</h1>${linkForm(visit, typed, key, problems, named)}</div>`,
  };
}
