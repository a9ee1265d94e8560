// `tollbooth applications …`: who asks to become a merchant.
import type { Application } from "#proto/merchant/v1/merchant_pb.ts";
import type { Answer, Commands, Row } from "../command.ts";
import { limitOption, pages, timeText } from "../wire.ts";

export const applications: Commands = {
  list: {
    about: "lists onboarding applications, newest first",
    options: { status: { value: "status", about: "only draft, submitted, approved or rejected ones" }, ...limitOption },
    run: async (peers, given) => {
      const found = await pages(given, async (page) => {
        const answer = await peers.applications.listApplications({ status: given.text("status"), ...page });
        return { items: answer.applications, nextPageToken: answer.nextPageToken };
      });
      return { rows: found.map(applicationRow) };
    },
  },
  approve: {
    about: "approves a submitted application: its merchant is created",
    words: ["application"],
    run: async (peers, given) =>
      moved((await peers.applications.approveApplication({ applicationId: given.word("application") })).application),
  },
  reject: {
    about: "rejects a submitted application",
    words: ["application"],
    run: async (peers, given) =>
      moved((await peers.applications.rejectApplication({ applicationId: given.word("application") })).application),
  },
};

function moved(application: Application | undefined): Answer {
  return { rows: application ? [applicationRow(application)] : [] };
}

function applicationRow(application: Application): Row {
  const { id, status, applicantEmail, legalName, countryCode, currencyCode, merchantId, createdAt } = application;
  const words = { legal_name: legalName, country: countryCode, currency: currencyCode, email: applicantEmail };
  return { id, status, ...words, merchant_id: merchantId, created_at: timeText(createdAt) };
}
