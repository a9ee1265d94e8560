// Codes of authenticator apps (TOTP, RFC 6238): six digits for 30 seconds, with one step of tolerance. A code works
// once and invalidates all earlier ones.
import { Secret, TOTP } from "otpauth";

const stepMs = 30_000;
/** Tolerance for wrong clocks of phones. */
const stepsAround = 1;
/** After this many wrong codes in a day, every code is refused until the day ends. */
const failuresMax = 10;
const failuresMs = 86_400_000;

interface CodeState {
  /** The last step whose code was accepted. */
  readonly lastStep: bigint;
  readonly failures: number;
  readonly failuresSince: Date;
}

type CodeJudgement = { readonly isRight: boolean } & CodeState;

export function judgeCode(secret: Uint8Array, code: string, state: CodeState, now: Date): CodeJudgement {
  const isNewDay = now.getTime() - state.failuresSince.getTime() >= failuresMs;
  const { failures, failuresSince } = isNewDay ? { failures: 0, failuresSince: now } : state;
  const step = failures < failuresMax ? stepOf(secret, code, now) : undefined;
  const isRight = step !== undefined && step > state.lastStep;
  return isRight
    ? { isRight, lastStep: step, failures: 0, failuresSince }
    : { isRight, lastStep: state.lastStep, failures: failures + 1, failuresSince };
}

/** The step of a valid code. */
function stepOf(secret: Uint8Array, code: string, now: Date): bigint | undefined {
  const digits = code.replace(/\s/g, "");
  if (!/^\d{6}$/.test(digits)) return undefined;
  const timestamp = now.getTime();
  const delta = appOf(secret).validate({ token: digits, timestamp, window: stepsAround });
  return delta === null ? undefined : BigInt(Math.floor(timestamp / stepMs) + delta);
}

/** The setup data for an app: the secret in base32 and as an `otpauth://` URI. */
export function setupOf(secret: Uint8Array, email: string): { secret: string; uri: string } {
  const app = appOf(secret, email);
  return { secret: app.secret.base32, uri: app.toString() };
}

function appOf(secret: Uint8Array, label = ""): TOTP {
  const buffer = new Uint8Array(secret).buffer;
  const issuer = "Tollbooth";
  return new TOTP({
    issuer,
    label,
    secret: new Secret({ buffer }),
    algorithm: "SHA1",
    digits: 6,
    period: stepMs / 1_000,
  });
}
