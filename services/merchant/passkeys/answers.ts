// Parses a browser's WebAuthn response: checks the type of the fields that are verified and drops all others.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";

const transportsMax = 10;
const base64url = /^[A-Za-z0-9_-]{1,16384}$/;

/** @returns undefined if it is not a registration response */
export function readRegistration(json: string): RegistrationResponseJSON | undefined {
  const read = readCredential(json);
  const clientDataJSON = textIn(read?.response, "clientDataJSON");
  const attestationObject = textIn(read?.response, "attestationObject");
  if (!read || clientDataJSON === undefined || attestationObject === undefined) return undefined;
  return {
    ...read.credential,
    response: { clientDataJSON, attestationObject, transports: transportsIn(read.response) },
  };
}

/** @returns undefined if it is not an assertion response */
export function readAssertion(json: string): AuthenticationResponseJSON | undefined {
  const read = readCredential(json);
  const clientDataJSON = textIn(read?.response, "clientDataJSON");
  const authenticatorData = textIn(read?.response, "authenticatorData");
  const signature = textIn(read?.response, "signature");
  if (!read || clientDataJSON === undefined || authenticatorData === undefined || signature === undefined) {
    return undefined;
  }
  const userHandle = textIn(read.response, "userHandle");
  const response = { clientDataJSON, authenticatorData, signature, ...(userHandle !== undefined && { userHandle }) };
  return { ...read.credential, response };
}

function readCredential(json: string) {
  const parsed = parseJson(json);
  const id = textIn(parsed, "id");
  if (id === undefined || textIn(parsed, "rawId") !== id) return undefined;
  const response = typeof parsed === "object" && parsed && "response" in parsed ? parsed.response : undefined;
  return { credential: { id, rawId: id, type: "public-key" as const, clientExtensionResults: {} }, response };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function textIn(value: unknown, name: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found = new Map<string, unknown>(Object.entries(value)).get(name);
  return typeof found === "string" && base64url.test(found) ? found : undefined;
}

function transportsIn(response: unknown): string[] {
  const found = typeof response === "object" && response && "transports" in response ? response.transports : [];
  const words = Array.isArray(found)
    ? found.filter((transport) => typeof transport === "string" && /^[a-z-]{1,20}$/.test(transport))
    : [];
  return words.slice(0, transportsMax);
}
