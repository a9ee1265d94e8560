// `tollbooth applications …`: applications to become a merchant.
import type { Application } from "#proto/merchant/v1/merchant_pb.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import type { Answer, Commands, Row } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { limitOption, readPages, timeText } from "../wire.ts";

export const applications: Commands = {
  list: {
    about: "lists submitted onboarding applications, newest first",
    options: { status: { value: "status", about: "submitted, approved or rejected" }, ...limitOption },
    run: async (peers, input) => {
      const found = await readPages(input, async (page) => {
        const answer = await peers.applications.listApplications({ status: input.text("status"), ...page });
        return { items: answer.applications, nextPageToken: answer.nextPageToken };
      });
      return { rows: found.map(applicationRow) };
    },
  },
  approve: {
    about: "approves a submitted application: creates its merchant, and invites the applicant if mail is configured",
    args: ["application"],
    run: async (peers, input) => {
      const applicationId = input.arg("application");
      const { application } = await peers.applications.approveApplication({ applicationId });
      return { ...moved(application), ...(application && { remark: await invitationOf(peers, application) }) };
    },
  },
  reject: {
    about: "rejects a submitted application",
    args: ["application"],
    run: async (peers, input) =>
      moved((await peers.applications.rejectApplication({ applicationId: input.arg("application") })).application),
  },
};

/** Reports whether the applicant has access or needs an invitation. */
async function invitationOf({ people }: OperatorPeers, application: Application): Promise<string> {
  const { merchantId, applicantEmail } = application;
  const { members, invitations } = await people.listMembers({ door: Door.MERCHANTS, merchantId });
  if (members.length > 0) return "The merchant has people in its console.";
  return invitations.length > 0
    ? "The applicant was invited to the console by mail."
    : `Invite the applicant to the console: tollbooth console invite ${applicantEmail} --merchant ${merchantId}`;
}

function moved(application: Application | undefined): Answer {
  return { rows: application ? [applicationRow(application)] : [] };
}

function applicationRow(application: Application): Row {
  const { id, status, applicantEmail, legalName, countryCode, currencyCode, merchantId, createdAt } = application;
  const words = { legal_name: legalName, country: countryCode, currency: currencyCode, email: applicantEmail };
  return { id, status, ...words, merchant_id: merchantId, created_at: timeText(createdAt) };
}
