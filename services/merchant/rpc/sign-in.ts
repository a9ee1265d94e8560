// merchant.v1.SignInService.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { SignInService } from "#proto/merchant/v1/people_pb.ts";
import type { MerchantContext } from "../context.ts";
import { acceptInvitation, readInvitation } from "../flows/sign-in/accept-invitation.ts";
import {
  beginAuthenticator,
  beginPasskey,
  finishAuthenticator,
  finishPasskey,
} from "../flows/sign-in/add-sign-in-method.ts";
import { endSessions, readOwnAccess, removeSignInMethod, updatePerson } from "../flows/sign-in/own-access.ts";
import { beginProof, finishProof } from "../flows/sign-in/prove.ts";
import { signOut, useSession } from "../flows/sign-in/session.ts";
import { redeemSignInLink, requestSignInLink } from "../flows/sign-in/sign-in-by-link.ts";
import { beginPasskeySignIn, finishPasskeySignIn } from "../flows/sign-in/sign-in-by-passkey.ts";
import { finishProviderSignIn } from "../flows/sign-in/sign-in-by-provider.ts";
import { fromBrowser, fromDoor, toConsoleSession, toNewSession, toOwnAccess, toPerson } from "../messages.ts";

export function signInRpc(context: MerchantContext): ServiceImpl<typeof SignInService> {
  return {
    async beginPasskeySignIn({ door }) {
      return await beginPasskeySignIn(context, fromDoor(door));
    },
    async finishPasskeySignIn({ door, challengeId, responseJson, browser }) {
      const answer = { challengeId, responseJson };
      const issued = await finishPasskeySignIn(context, fromDoor(door), answer, fromBrowser(browser));
      return { session: toNewSession(issued) };
    },
    async requestSignInLink({ door, browser, $typeName: _, $unknown: __, ...input }) {
      await requestSignInLink(context, fromDoor(door), input, fromBrowser(browser));
      return {};
    },
    async redeemSignInLink({ door, browser, $typeName: _, $unknown: __, ...link }) {
      const issued = await redeemSignInLink(context, fromDoor(door), link, fromBrowser(browser));
      return { session: toNewSession(issued) };
    },
    async finishProviderSignIn({ door, idToken, nonce, browser }) {
      const token = { idToken, nonce };
      const issued = await finishProviderSignIn(context, fromDoor(door), token, fromBrowser(browser));
      return { session: toNewSession(issued) };
    },
    async getInvitation({ door, token }) {
      const { invitation, merchantName, inviterName, isKnown } = await readInvitation(context, fromDoor(door), token);
      const { email, role, expiresAt } = invitation;
      return { email, merchantName, role, inviterName, expiresAt: timestampFromDate(expiresAt), isKnown };
    },
    async acceptInvitation({ door, browser, $typeName: _, $unknown: __, ...acceptance }) {
      const input = { ...acceptance, door: fromDoor(door), browser: fromBrowser(browser) };
      const { merchantId, ...issued } = await acceptInvitation(context, input);
      return { session: toNewSession(issued), merchantId };
    },
    async getSession({ door, sessionSecret }) {
      return { session: toConsoleSession(await useSession(context, sessionSecret, fromDoor(door))) };
    },
    async signOut({ sessionSecret }) {
      await signOut(context, sessionSecret);
      return {};
    },
    async beginPasskey({ sessionSecret }) {
      return await beginPasskey(context, sessionSecret);
    },
    async finishPasskey({ sessionSecret, challengeId, responseJson, name }) {
      const answer = { challengeId, responseJson };
      return { session: toNewSession(await finishPasskey(context, sessionSecret, answer, name)) };
    },
    async beginAuthenticator({ sessionSecret }) {
      return await beginAuthenticator(context, sessionSecret);
    },
    async finishAuthenticator({ sessionSecret, code }) {
      return { session: toNewSession(await finishAuthenticator(context, sessionSecret, code)) };
    },
    async beginProof({ sessionSecret }) {
      return await beginProof(context, sessionSecret);
    },
    async finishProof({ sessionSecret, $typeName: _, $unknown: __, ...proof }) {
      return { session: toConsoleSession(await finishProof(context, sessionSecret, proof)) };
    },
    async getOwnAccess({ sessionSecret }) {
      return toOwnAccess(await readOwnAccess(context, sessionSecret));
    },
    async updatePerson({ sessionSecret, name, language }) {
      return { person: toPerson(await updatePerson(context, sessionSecret, { name, language })) };
    },
    async removeWayIn({ sessionSecret, passkeyId }) {
      await removeSignInMethod(context, sessionSecret, passkeyId);
      return {};
    },
    async endSessions({ sessionSecret, sessionId }) {
      await endSessions(context, sessionSecret, sessionId);
      return {};
    },
  };
}
