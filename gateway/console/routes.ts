// The kinds of routes, by who may see them: anybody, whoever is signed in, members of a merchant, operators. A form is
// taken from our own pages alone; what is grave asks for a fresh proof first, and carries on with what was typed.
import { finished } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type CallContext, callContext, renewTime } from "#platform/values/call-context.ts";
import { pieceBytes } from "../http/body/pieces.ts";
import { giveFileTime } from "./http/body-time.ts";
import { Form, formFields } from "./http/form.ts";
import { sendPage } from "./http/send-page.ts";
import { isUploadSize, readUpload, type Upload } from "./http/upload.ts";
import { entryLayout, merchantLayout, operatorLayout, personLayout } from "./layout/layouts.ts";
import { admitAnybody, admitMember, admitOperator, admitPerson } from "./session/admit.ts";
import { isFormToken, isFromOurPages } from "./session/form-token.ts";
import { requireProof } from "./session/prove.ts";
import { ForeignForm, LargeForm, SignedOut } from "./session/turned-away.ts";
import type {
  Answer,
  ConsoleContext,
  Go,
  MerchantVisit,
  OperatorVisit,
  Page,
  PersonVisit,
  Visit,
} from "./session/visit.ts";

type Show<V> = (visit: V) => Promise<Answer | FastifyReply>;
type Take<V> = (visit: V, form: Form) => Promise<Answer>;
type TakeOpen = (visit: Visit, form: Form) => Promise<Answer | FastifyReply>;

/** What a form needs beside a person. */
export interface FormNeeds<V> {
  /** The right, as services/merchant/rules names it; absent: every member has it. */
  readonly action?: string;
  /** What is grave is proved by passkey or code within the last five minutes. */
  readonly proof?: (visit: V, form: Form) => boolean;
}

const merchantPath = (path: string) => `/:merchantId/:environment${path}`;

/** A page for anybody. */
export function openPage(context: ConsoleContext, path: string, show: Show<Visit>): void {
  context.app.get(path, async (request, reply) => {
    const visit = admitAnybody(request, reply);
    return await sendAnswer(reply, await as(request, "", () => show(visit)), (page) => entryLayout(visit, page));
  });
}

/** A form for anybody. */
export function openForm(context: ConsoleContext, path: string, take: TakeOpen): void {
  context.app.post(path, { onRequest: async (request) => assertOurs(context, request) }, async (request, reply) => {
    const visit = admitAnybody(request, reply);
    const answer = await as(request, "", () => take(visit, new Form(request.body)));
    return await sendAnswer(reply, answer, (page) => entryLayout(visit, page));
  });
}

/** A form for whoever has the token in its address, from anywhere: it changes nothing of a session. */
export function tokenForm(context: ConsoleContext, path: string, take: Take<Visit>): void {
  context.app.post(path, async (request, reply) => {
    const visit = admitAnybody(request, reply);
    const answer = await as(request, "", () => take(visit, new Form(request.body)));
    return await sendAnswer(reply, answer, (page) => entryLayout(visit, page));
  });
}

/** A page of the person's own. @param mayLackSignInMethod also of a session that can do nothing else */
export function personPage(
  context: ConsoleContext,
  path: string,
  show: Show<PersonVisit>,
  mayLackSignInMethod = false,
): void {
  context.app.get(path, async (request, reply) => {
    const visit = await as(request, "", () => admitPerson(context, request, reply, mayLackSignInMethod));
    return await sendAnswer(reply, await asPerson(visit, () => show(visit)), (page) =>
      personLayout(context, visit, page),
    );
  });
}

/** A form of the person's own. */
export function personForm(
  context: ConsoleContext,
  path: string,
  needs: FormNeeds<PersonVisit>,
  take: Take<PersonVisit>,
  mayLackSignInMethod = false,
): void {
  context.app.post(path, knowSender(context, mayLackSignInMethod), async (request, reply) => {
    const admitted = admitForm(request, reply);
    return await handleForm(context, admitted, needs, take, (visit, page) => personLayout(context, visit, page));
  });
}

/** A page of a merchant in an environment. @param action needed; undefined: every member may */
export function merchantPage(
  context: ConsoleContext,
  path: string,
  action: string | undefined,
  show: Show<MerchantVisit>,
): void {
  context.app.get(merchantPath(path), async (request, reply) => {
    const visit = admitMember(await as(request, "", () => admitPerson(context, request, reply)), action);
    return await sendAnswer(reply, await asPerson(visit, () => show(visit)), (page) => merchantLayout(visit, page));
  });
}

/** A form of a merchant. */
export function merchantForm(
  context: ConsoleContext,
  path: string,
  needs: FormNeeds<MerchantVisit>,
  take: Take<MerchantVisit>,
): void {
  context.app.post(merchantPath(path), knowSender(context), async (request, reply) => {
    const admitted = admitMember(admitForm(request, reply), needs.action);
    return await handleForm(context, admitted, needs, take, merchantLayout);
  });
}

/**
 * A form of a merchant that may bring a file. Who sends it, and from which page, is known before any of the file is
 * read; without a session its texts are carried through the sign-in as any form's.
 */
export function merchantUpload(
  context: ConsoleContext,
  path: string,
  needs: FormNeeds<MerchantVisit>,
  take: (visit: MerchantVisit, form: Form, file: Upload["file"]) => Promise<Answer>,
): void {
  const config = { heldBytes: 2 * pieceBytes };
  context.app.post(merchantPath(path), { ...knowSender(context), config }, async (request, reply) => {
    if (senders.has(request)) giveFileTime(request);
    const { fields, file } = request.isMultipart() ? await uploadOf(request, reply) : { fields: request.body };
    request.body = fields;
    try {
      const admitted = admitMember(admitForm(request, reply), needs.action);
      return await handleForm(context, admitted, needs, (visit, form) => take(visit, form, file), merchantLayout);
    } finally {
      // What was not read is dropped, and the answer waits for its end: a browser that still sends would lose it.
      file?.file.resume();
      if (file) await finished(request.raw).catch(() => {});
    }
  });
}

async function uploadOf(request: FastifyRequest, reply: FastifyReply): Promise<Partial<Upload>> {
  const upload = isUploadSize(request) ? await readUpload(request) : "large";
  if (upload === "large") {
    // What is not read is not awaited either: the connection ends with the answer.
    reply.header("connection", "close");
    throw new LargeForm();
  }
  if (upload === "broken") throw new ForeignForm();
  renewTime(request.call);
  return upload;
}

/** A page of the operators' console. */
export function operatorPage(
  context: ConsoleContext,
  path: string,
  action: string | undefined,
  show: Show<OperatorVisit>,
): void {
  context.app.get(path, async (request, reply) => {
    const visit = admitOperator(await as(request, "", () => admitPerson(context, request, reply)), action);
    return await sendAnswer(reply, await asPerson(visit, () => show(visit)), (page) => operatorLayout(visit, page));
  });
}

/** A form of the operators' console. */
export function operatorForm(
  context: ConsoleContext,
  path: string,
  needs: FormNeeds<OperatorVisit>,
  take: Take<OperatorVisit>,
): void {
  context.app.post(path, knowSender(context), async (request, reply) => {
    const admitted = admitOperator(admitForm(request, reply), needs.action);
    return await handleForm(context, admitted, needs, take, operatorLayout);
  });
}

async function handleForm<V extends PersonVisit>(
  context: ConsoleContext,
  admitted: V,
  needs: FormNeeds<V>,
  take: Take<V>,
  layout: (visit: V, page: Page) => ReturnType<typeof entryLayout>,
): Promise<FastifyReply> {
  const form = new Form(admitted.request.body);
  let visit = admitted;
  const answer = await asPerson(visit, async () => {
    if (!needs.proof?.(visit, form)) return await take(visit, form);
    const proof = await requireProof(context, visit, form);
    if ("page" in proof) return proof.page;
    visit = proof.visit;
    return await take(visit, form);
  });
  return await sendAnswer(visit.reply, answer, (page) => layout(visit, page));
}

const senders = new WeakMap<FastifyRequest, PersonVisit>();

/** Who sends a form of our pages is known before its body is read. Without a session it is a stranger's try. */
function knowSender(context: ConsoleContext, mayLackSignInMethod = false) {
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    assertOurs(context, request);
    try {
      senders.set(request, await as(request, "", () => admitPerson(context, request, reply, mayLackSignInMethod)));
    } catch (error) {
      if (!(error instanceof SignedOut)) throw error;
      await context.countTry(request, reply);
    }
  };
  return { onRequest };
}

/** @throws SignedOut, which carries the form through the sign-in; ForeignForm: its page was made for another session */
function admitForm(request: FastifyRequest, reply: FastifyReply): PersonVisit {
  const visit = senders.get(request);
  if (!visit) throw new SignedOut(admitAnybody(request, reply));
  // Also of a page that was made before somebody else signed in: what it shows is not theirs.
  if (!isFormToken(visit.secret, new Form(request.body).raw(formFields.token))) throw new ForeignForm();
  return visit;
}

function assertOurs({ config }: ConsoleContext, request: FastifyRequest): void {
  if (!isFromOurPages(request, config.CONSOLE_ORIGIN)) throw new ForeignForm();
}

function asPerson<T>(visit: PersonVisit | MerchantVisit, work: () => Promise<T>): Promise<T> {
  const merchantStatus = "merchantId" in visit ? visit.membership.merchantStatus : "";
  return as(visit.request, visit.session.person?.id ?? "", work, merchantStatus);
}

/**
 * Calls of the work carry the request's id, for whom they are made, and the status of the merchant whose page it
 * is.
 */
function as<T>(request: FastifyRequest, actor: string, work: () => Promise<T>, merchantStatus = ""): Promise<T> {
  const call: CallContext = { ...request.call, actor, merchantStatus };
  request.call = call;
  return callContext.run(call, work);
}

async function sendAnswer(
  reply: FastifyReply,
  answer: Answer | FastifyReply,
  layout: (page: Page) => ReturnType<typeof entryLayout>,
): Promise<FastifyReply> {
  if ("body" in answer) return await sendPage(reply, answer.status ?? 200, layout(answer));
  if ("go" in answer) return await sendOn(reply, answer);
  return answer;
}

/** By GET (303), so that a reload repeats nothing. */
async function sendOn(reply: FastifyReply, { go, done }: Go): Promise<FastifyReply> {
  const mark = go.includes("?") ? "&" : "?";
  return await reply
    .header("cache-control", "no-store")
    .redirect(done === undefined ? go : `${go}${mark}done=${done}`, 303);
}
