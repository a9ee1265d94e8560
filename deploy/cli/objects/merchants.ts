// `tollbooth merchants …`: the merchants of this installation.
import type { Merchant } from "#proto/merchant/v1/merchant_pb.ts";
import { type Answer, type Commands, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { limitOption, readPages, timeText } from "../wire.ts";

export const merchants: Commands = {
  list: {
    about: "lists merchants, newest first",
    options: { status: { value: "status", about: "pending, active, suspended or closed" }, ...limitOption },
    run: async (peers, input) => {
      const found = await readPages(input, async (page) => {
        const answer = await peers.merchants.listMerchants({ status: input.text("status"), ...page });
        return { items: answer.merchants, nextPageToken: answer.nextPageToken };
      });
      return {
        rows: found.map(({ id, name, status, country, currency, createdAt }) => {
          return { id, name, status, country, currency, created_at: timeText(createdAt) };
        }),
      };
    },
  },
  show: {
    about: "shows one merchant",
    args: ["merchant"],
    run: async (peers, input) =>
      shown((await peers.merchants.getMerchant({ merchantId: input.arg("merchant") })).merchant),
  },
  create: {
    about: "creates an active merchant with a simulator connector in the sandbox",
    options: {
      name: { value: "text", about: "trading name", needed: true },
      email: { value: "address", about: "contact e-mail", needed: true },
      country: { value: "XX", about: "ISO 3166-1 alpha-2", needed: true },
      currency: { value: "XXX", about: "ISO 4217", needed: true },
      "legal-name": { value: "text", about: "registered name" },
    },
    run: async (peers, input) => {
      const { merchant } = await peers.merchants.createMerchant({
        name: input.text("name"),
        legalName: input.text("legal-name"),
        email: input.text("email"),
        country: input.text("country"),
        currency: input.text("currency"),
      });
      return shown(merchant);
    },
  },
  suspend: {
    about:
      "suspends a merchant: it can only read, refund, cancel authorizations and answer disputes; open sessions and links are canceled permanently",
    args: ["merchant"],
    options: { reason: { value: "text", about: "stored in the merchant's audit log", needed: true } },
    run: (peers, input) => setStatus(peers, input.arg("merchant"), "suspended", input.text("reason")),
  },
  resume: {
    about: "reactivates a suspended merchant",
    args: ["merchant"],
    run: (peers, input) => setStatus(peers, input.arg("merchant"), "active"),
  },
  refunds: {
    about: "switches a merchant's refunds on or off",
    args: ["merchant", "on|off"],
    run: async (peers, input) => {
      const state = input.arg("on|off");
      if (state !== "on" && state !== "off") throw new UsageError("the state must be on or off");
      const change = { merchantId: input.arg("merchant"), refundsEnabled: state === "on" };
      return shown((await peers.merchants.updateMerchantState(change)).merchant);
    },
  },
};

async function setStatus(peers: OperatorPeers, merchantId: string, status: string, reason = ""): Promise<Answer> {
  return shown((await peers.merchants.updateMerchantState({ merchantId, status, reason })).merchant);
}

function shown(merchant: Merchant | undefined): Answer {
  if (!merchant) throw new Error("the merchant service returned no merchant");
  const { id, name, legalName, status, country, currency, email, refundsEnabled, createdAt } = merchant;
  const words = { id, name, legal_name: legalName, status, country, currency, email };
  return { rows: [{ ...words, refunds: refundsEnabled ? "on" : "off", created_at: timeText(createdAt) }] };
}
