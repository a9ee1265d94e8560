// Finds merchants for operators' screens: by an id or a part of name or e-mail, and the names of known ids.
import { isId } from "#platform/values/id.ts";
import type { Merchant } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { ConsoleContext, OperatorVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { withFilter } from "../../../view/pieces.ts";

const idsMax = 200;
const matchesMax = 10;
const typedMax = 64;

/** Names by id. Without an answer the screens show ids. */
export async function merchantNames(
  { peers }: ConsoleContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const merchantIds = [...new Set(ids.filter((id) => isId("merchant", id)))].slice(0, idsMax);
  if (merchantIds.length === 0) return new Map();
  const found = peers.merchants.listMerchants({ merchantIds, pageSize: idsMax });
  const { merchants } = await found.catch(() => ({ merchants: [] }));
  return new Map(merchants.map(({ id, name }) => [id, name]));
}

interface ChosenMerchant {
  /** Empty: no merchant was typed, or none is clear. */
  readonly id: string;
  /** Links to the merchants that match, or that none does; empty when one is clear. */
  readonly choice: Html | string;
}

/**
 * Reads a filter that takes an id or a part of name or e-mail.
 * @param filter `name` in the query; `typed`: another value than the query's
 */
export async function chooseMerchant(
  { peers }: ConsoleContext,
  { language }: OperatorVisit,
  filter: { readonly path: string; readonly query: URLSearchParams; readonly name: string; readonly typed?: string },
): Promise<ChosenMerchant> {
  const { path, query, name } = filter;
  const typed = (filter.typed ?? query.get(name) ?? "").trim().slice(0, typedMax);
  // `*` means every merchant.
  if (["", "*"].includes(typed) || isId("merchant", typed)) return { id: typed, choice: "" };
  const texts = textsOf(language).merchants;
  const { merchants } = await peers.merchants.listMerchants({ query: typed, pageSize: matchesMax });
  const [only, ...others] = merchants;
  if (!only) return { id: "", choice: html`<p class="problem" role="alert">${texts.noMatch}</p>` };
  if (others.length === 0) return { id: only.id, choice: "" };
  const link = (one: Merchant) =>
    html`<li><a href="${withFilter(path, query, { [name]: one.id })}">${one.name}</a> <span class="muted">${one.email}</span></li>`;
  return { id: "", choice: html`<div class="panel"><p>${texts.severalMatch}</p><ul>${merchants.map(link)}</ul></div>` };
}
