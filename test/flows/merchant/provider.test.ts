// Sign-in by the company's identity provider, whose tokens the merchant service verifies. A provider in this process
// issues valid and forged tokens.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { SoftwareAuthenticator } from "../../harness/software-authenticator.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import {
  addPasskey,
  anEmail,
  consoleOrigin,
  type PeopleOverRpc,
  signedIn,
  startPeopleOverRpc,
} from "./people-over-rpc.ts";

const test = suite("sign-in by an identity provider", { timeoutMs: 60_000 });
const door = Door.MERCHANTS;
const clientId = "tollbooth-console";
let server: Server;
let issuer: string;
let isUnavailable = false;
let service: PeopleOverRpc;
const own = await generateKeyPair("RS256");
const foreign = await generateKeyPair("RS256");

test.before(async () => {
  const keys = { keys: [{ ...(await exportJWK(own.publicKey)), kid: "k1", alg: "RS256" }] };
  server = createServer((request, response) => {
    const documents: Record<string, object> = {
      "/.well-known/openid-configuration": { issuer, jwks_uri: `${issuer}/keys` },
      "/keys": keys,
    };
    const body = documents[request.url ?? ""];
    response.writeHead(isUnavailable || !body ? 503 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  issuer = `http://127.0.0.1:${port}`;
  service = await startPeopleOverRpc({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId });
});
test.after(async () => {
  await service?.stop();
  server?.closeAllConnections();
  server?.close();
});

interface Forgery {
  readonly claims?: JWTPayload;
  readonly key?: typeof own.privateKey;
  readonly audience?: string | string[];
  readonly from?: string;
  readonly issuedAt?: number;
}

const now = () => Math.floor(Date.now() / 1_000);

/** A token of the provider, changed by the forgery. */
async function tokenFor(email: string, nonce: string, forgery: Forgery = {}): Promise<string> {
  const claims = { email, email_verified: true, nonce, auth_time: now(), sub: `sub-${email}`, ...forgery.claims };
  const token = new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", kid: "k1" })
    .setIssuer(forgery.from ?? issuer)
    .setAudience(forgery.audience ?? clientId)
    .setIssuedAt(forgery.issuedAt ?? now())
    .setExpirationTime((forgery.issuedAt ?? now()) + 3_600);
  return await token.sign(forgery.key ?? own.privateKey);
}

/** Other spellings of the same token: the last letter of the signature has unused bits. */
function otherTexts(idToken: string): string[] {
  const signature = (text: string) => Buffer.from(text.slice(text.lastIndexOf(".") + 1), "base64url").toString("hex");
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"];
  const all = letters.map((letter) => idToken.slice(0, -1) + letter);
  const same = all.filter((text) => text !== idToken && signature(text) === signature(idToken));
  assert(same.length > 0);
  return same;
}

const aNonce = () => randomBytes(16).toString("hex");
const finish = (idToken: string, nonce: string, at: Door = door) =>
  service.signIn.finishProviderSignIn({ door: at, idToken, nonce });

test("a valid token signs in fully and once, and proves the session after a recent sign-in at the provider", async () => {
  isUnavailable = true;
  const { email, personId } = await service.joinMember(await service.newMerchant());
  const nonce = aNonce();
  const idToken = await tokenFor(email, nonce);
  await assert.rejects(finish(idToken, nonce), isRefusal("SERVICE_UNAVAILABLE"), "the provider's keys are unavailable");
  isUnavailable = false;
  const { session } = await finish(idToken, nonce);
  assert.deepEqual([session?.session?.person?.id, session?.session?.needsWayIn], [personId, false]);
  assert(session?.session?.provedUntil);
  await assert.rejects(finish(idToken, nonce), isRefusal("UNAUTHORIZED"), "twice");
  for (const same of otherTexts(idToken)) {
    await assert.rejects(
      finish(same, nonce),
      isRefusal("UNAUTHORIZED"),
      "twice, with another spelling of the signature",
    );
  }
  const later = await finish(await tokenFor(email, nonce, { claims: { auth_time: now() - 301 } }), nonce);
  assert.equal(later.session?.session?.provedUntil, undefined);
  assert.equal((await service.announced.event("person.signed_in", personId)).actor, personId);
});

test("refuses a token of another key, client, issuer, nonce or time, or about an unverified or unknown address", async () => {
  const { email } = await service.joinMember(await service.newMerchant(), { email: `k${anEmail()}` });
  const nonce = aNonce();
  const forgeries: Forgery[] = [
    // The Kelvin sign, whose lower case is an ASCII k.
    { claims: { email: email.replace("k", "\u212a") } },
    { key: foreign.privateKey },
    { audience: "another-client" },
    { audience: [clientId, "another-client"] },
    { from: "https://accounts.evil.example" },
    { claims: { nonce: aNonce() } },
    { claims: { nonce: undefined } },
    { claims: { email_verified: false } },
    { claims: { email_verified: "true" } },
    { claims: { email: undefined } },
    { claims: { azp: "another-client" } },
    { claims: { sub: "" } },
    { issuedAt: now() - 700 },
  ];
  for (const forgery of forgeries) {
    await assert.rejects(
      finish(await tokenFor(email, nonce, forgery), nonce),
      isRefusal("UNAUTHORIZED"),
      JSON.stringify(forgery),
    );
  }
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${(await tokenFor(email, nonce)).split(".")[1]}.`;
  await assert.rejects(finish(unsigned, nonce), isRefusal("UNAUTHORIZED"));
  const stranger = anEmail();
  await assert.rejects(finish(await tokenFor(stranger, nonce), nonce), isRefusal("UNAUTHORIZED"));
  await assert.rejects(finish(await tokenFor(email, nonce), nonce, Door.OPERATORS), isRefusal("UNAUTHORIZED"));
  await finish(await tokenFor(email, nonce), nonce);
});

test("a recent sign-in at the provider proves a session of the same person once, from its own time", async () => {
  const { email } = await service.joinMember(await service.newMerchant());
  const nonce = aNonce();
  const anHourAgo = { claims: { auth_time: now() - 3_600 } };
  const { session } = await finish(await tokenFor(email, nonce, anHourAgo), nonce);
  const sessionSecret = session?.secret ?? "";
  assert.equal((await service.signIn.beginProof({ sessionSecret })).takesProvider, true);
  const prove = (idToken: string) => service.signIn.finishProof({ sessionSecret, idToken, nonce });
  const other = (await service.joinMember(await service.newMerchant())).email;
  await finish(await tokenFor(other, nonce), nonce);
  const refusals = [
    await tokenFor(other, nonce),
    await tokenFor(email, aNonce()),
    await tokenFor(email, nonce, { claims: { auth_time: now() - 301 } }),
    await tokenFor(email, nonce, { claims: { auth_time: undefined } }),
    await tokenFor(email, nonce, { key: foreign.privateKey }),
  ];
  for (const idToken of refusals) await assert.rejects(prove(idToken), isRefusal("UNAUTHORIZED"));
  const idToken = await tokenFor(email, nonce, { claims: { auth_time: now() - 200 } });
  const { session: proved } = await prove(idToken);
  const until = Number(proved?.provedUntil?.seconds ?? 0);
  assert.ok(Math.abs(until - now() - 100) <= 5, `five minutes from the sign-in: ${until - now()}`);
  await assert.rejects(prove(idToken), isRefusal("UNAUTHORIZED"), "twice");
  const { session: ahead } = await prove(await tokenFor(email, nonce, { claims: { auth_time: now() + 600 } }));
  const left = Number(ahead?.provedUntil?.seconds ?? 0) - now();
  assert.ok(left <= 300 && left >= 290, `a clock ahead gives no longer proof: ${left}`);
});

test("a reassigned address cannot sign in; its former holder signs in under a new address", async () => {
  const { email, personId } = await service.joinMember(await service.newMerchant());
  const nonce = aNonce();
  await finish(await tokenFor(email, nonce, { claims: { sub: "first" } }), nonce);
  await assert.rejects(
    finish(await tokenFor(email, nonce, { claims: { sub: "second" } }), nonce),
    isRefusal("UNAUTHORIZED"),
  );
  const moved = await finish(await tokenFor(anEmail(), nonce, { claims: { sub: "first" } }), nonce);
  assert.equal(moved.session?.session?.person?.id, personId);
});

test("a sign-in at the provider proves the address and ends sign-in methods that others had set up", async () => {
  const { people, signIn } = service;
  const merchantId = await service.newMerchant();
  const eve = await service.joinMember(merchantId);
  const email = anEmail();
  const { link } = await people.inviteMember({ sessionSecret: eve.secret, door, merchantId, email, role: "viewer" });
  const token = link.slice(link.lastIndexOf("/") + 1);
  const { session } = await signIn.acceptInvitation({ door, token, name: "Not Bob" });
  const eves = new SoftwareAuthenticator(consoleOrigin);
  await addPasskey(signIn, session?.secret ?? "", eves);
  const nonce = aNonce();
  await finish(await tokenFor(email, nonce), nonce);
  await assert.rejects(signedIn(signIn, eves), isRefusal("UNAUTHORIZED"));
});

test("without a provider the sign-in is disabled", async () => {
  const without = await startPeopleOverRpc();
  try {
    const input = { door, idToken: "x", nonce: aNonce() };
    await assert.rejects(without.signIn.finishProviderSignIn(input), isRefusal("FEATURE_DISABLED"));
  } finally {
    await without.stop();
  }
});

test.run();
