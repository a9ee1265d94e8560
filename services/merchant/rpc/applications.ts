// merchant.v1.ApplicationService.
import type { ServiceImpl } from "@connectrpc/connect";
import { keysetPage } from "#platform/lists/cursor.ts";
import { Failure } from "#platform/values/failure.ts";
import type { ApplicationService } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { changeDraft, createApplication, moveApplication, readApplication } from "../flows/move-application.ts";
import { omitUndefined, toApplication, toReadApplication } from "../messages.ts";
import type { ApplicationStatus } from "../rules/application.ts";
import { listApplications } from "../store/applications.ts";

export function applicationsRpc(context: MerchantContext): ServiceImpl<typeof ApplicationService> {
  return {
    async createApplication({ applicantEmail, legalName, tradingName, countryCode, currencyCode }) {
      const fields = { applicantEmail, legalName, tradingName, countryCode, currencyCode };
      return { application: toApplication(await createApplication(context, fields)) };
    },
    async getApplication({ applicationId }) {
      return { application: toReadApplication(await readApplication(context, applicationId)) };
    },
    async updateApplication({ applicationId, applicantEmail, legalName, tradingName, countryCode, currencyCode }) {
      const fields = omitUndefined({ applicantEmail, legalName, tradingName, countryCode, currencyCode });
      return { application: toApplication(await changeDraft(context, applicationId, fields)) };
    },
    async submitApplication({ applicationId }) {
      return { application: toApplication(await moveApplication(context, applicationId, "submit")) };
    },
    async listApplications({ status, pageSize, pageToken }) {
      // The proto's rule admits no other value.
      const filter = { status: (status || undefined) as ApplicationStatus | undefined };
      const { page, nextPageToken } = await keysetPage("application", { pageToken, limit: pageSize }, (id, limit) =>
        listApplications(context.db.em(), { ...filter, beforeId: id || undefined, limit }),
      );
      return { applications: page.map(toApplication), nextPageToken };
    },
    async reviewApplication({ applicationId }) {
      const application = await readApplication(context, applicationId);
      if (application.status === "draft") throw new Failure("NOT_FOUND");
      return { application: toApplication(application) };
    },
    async approveApplication({ applicationId }) {
      return { application: toApplication(await moveApplication(context, applicationId, "approve")) };
    },
    async rejectApplication({ applicationId }) {
      return { application: toApplication(await moveApplication(context, applicationId, "reject")) };
    },
  };
}
