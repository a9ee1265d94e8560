// Routes of the consoles by visitor: anyone, signed-in people, members of a merchant, operators. Forms come from our
// own pages only. A form that needs proof asks for it first and continues with the same input.
import { finished } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type CallContext, callContext, renewTime } from "#platform/values/call-context.ts";
import type { Html } from "../html.ts";
import { pieceBytes } from "../http/body/pieces.ts";
import { allowFileTime } from "./http/body-time.ts";
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
  MerchantVisit,
  OperatorVisit,
  Page,
  PersonVisit,
  Redirect,
  Visit,
} from "./session/visit.ts";
import { runInZone } from "./view/zone.ts";

type Show<V> = (visit: V) => Promise<Answer | FastifyReply>;
type Take<V> = (visit: V, form: Form) => Promise<Answer | FastifyReply>;

interface FormNeeds<V> {
  /** A right of services/merchant/rules; default: every member has it. */
  readonly action?: string;
  /** True if the form needs a passkey or code of the last five minutes. */
  readonly proof?: (visit: V, form: Form) => boolean;
}

interface Admission<V extends PersonVisit> {
  readonly address: (path: string) => string;
  readonly admit: (visit: PersonVisit, action: string | undefined) => V;
  readonly layout: (visit: V, page: Page, context: ConsoleContext) => Html;
}

const member: Admission<MerchantVisit> = {
  address: (path) => `/:merchantId/:environment${path}`,
  admit: admitMember,
  layout: merchantLayout,
};
const operator: Admission<OperatorVisit> = {
  address: (path) => path,
  admit: admitOperator,
  layout: operatorLayout,
};

export function openPage(context: ConsoleContext, path: string, show: Show<Visit>): void {
  context.app.get(path, async (request, reply) => {
    const visit = admitAnybody(request, reply);
    return await sendAnswer(reply, await as(request, "", () => show(visit)), (page) => entryLayout(visit, page));
  });
}

/** @param isFromAnywhere the address holds a token that is enough, for example one-click unsubscribe */
export function openForm(
  context: ConsoleContext,
  path: string,
  take: (visit: Visit, form: Form) => Promise<Answer | FastifyReply>,
  isFromAnywhere = false,
): void {
  const onRequest = async (request: FastifyRequest) => {
    if (!isFromAnywhere) assertOurs(context, request);
  };
  context.app.post(path, { onRequest }, async (request, reply) => {
    const visit = admitAnybody(request, reply);
    const answer = await as(request, "", () => take(visit, new Form(request.body)));
    return await sendAnswer(reply, answer, (page) => entryLayout(visit, page));
  });
}

/** @param mayLackSignInMethod also for a new session, which can only add a sign-in method */
export function personPage(
  context: ConsoleContext,
  path: string,
  show: Show<PersonVisit>,
  mayLackSignInMethod = false,
): void {
  context.app.get(path, async (request, reply) => {
    const visit = await as(request, "", () => admitPerson(context, request, reply, mayLackSignInMethod));
    const answer = await asPerson(visit, () => show(visit));
    return await sendAnswer(reply, answer, (page) => personLayout(context, visit, page));
  });
}

export function personForm(
  context: ConsoleContext,
  path: string,
  needs: FormNeeds<PersonVisit>,
  take: Take<PersonVisit>,
  mayLackSignInMethod = false,
): void {
  context.app.post(path, identifySender(context, mayLackSignInMethod), async (request, reply) => {
    const admitted = admitForm(request, reply);
    return await handleForm(context, admitted, needs, take, (visit, page) => personLayout(context, visit, page));
  });
}

function addPage<V extends PersonVisit>({ address, admit, layout }: Admission<V>) {
  return (context: ConsoleContext, path: string, action: string | undefined, show: Show<V>): void => {
    context.app.get(address(path), async (request, reply) => {
      const visit = admit(await as(request, "", () => admitPerson(context, request, reply)), action);
      return await sendAnswer(reply, await asPerson(visit, () => show(visit)), (page) => layout(visit, page, context));
    });
  };
}

function addForm<V extends PersonVisit>({ address, admit, layout }: Admission<V>) {
  return (context: ConsoleContext, path: string, needs: FormNeeds<V>, take: Take<V>): void => {
    context.app.post(address(path), identifySender(context), async (request, reply) => {
      return await handleForm(context, admit(admitForm(request, reply), needs.action), needs, take, layout);
    });
  };
}

/** A page of a merchant in an environment. An undefined action admits every member. */
export const merchantPage = addPage(member);
export const merchantForm = addForm(member);
export const operatorPage = addPage(operator);
export const operatorForm = addForm(operator);

/**
 * A form that may hold a file. Sender and page are verified before the file is read. Without a session its texts are
 * carried through the sign-in like those of any form.
 */
export function merchantUpload(
  context: ConsoleContext,
  path: string,
  needs: FormNeeds<MerchantVisit>,
  take: (visit: MerchantVisit, form: Form, file: Upload["file"]) => Promise<Answer>,
): void {
  const config = { heldBytes: 2 * pieceBytes };
  context.app.post(member.address(path), { ...identifySender(context), config }, async (request, reply) => {
    if (senders.has(request)) allowFileTime(request);
    const { fields, file } = request.isMultipart() ? await uploadOf(request, reply) : { fields: request.body };
    request.body = fields;
    try {
      const admitted = admitMember(admitForm(request, reply), needs.action);
      return await handleForm(context, admitted, needs, (visit, form) => take(visit, form, file), merchantLayout);
    } finally {
      // Drops the rest of the file before answering: a browser that still sends would lose the answer.
      file?.file.resume();
      if (file) await finished(request.raw).catch(() => {});
    }
  });
}

async function uploadOf(request: FastifyRequest, reply: FastifyReply): Promise<Partial<Upload>> {
  const upload = isUploadSize(request) ? await readUpload(request) : "large";
  if (upload === "large") {
    // The rest of the body is not read, so the connection ends with the answer.
    reply.header("connection", "close");
    throw new LargeForm();
  }
  if (upload === "broken") throw new ForeignForm();
  renewTime(request.call);
  return upload;
}

async function handleForm<V extends PersonVisit>(
  context: ConsoleContext,
  admitted: V,
  needs: FormNeeds<V>,
  take: Take<V>,
  layout: (visit: V, page: Page, context: ConsoleContext) => Html,
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
  return await sendAnswer(visit.reply, answer, (page) => layout(visit, page, context));
}

const senders = new WeakMap<FastifyRequest, PersonVisit>();

/** Loads the sender's session before the body is read. A form without a session counts against its address. */
function identifySender(context: ConsoleContext, mayLackSignInMethod = false) {
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

/** @throws SignedOut, which carries the form through the sign-in; ForeignForm for a page of another session */
function admitForm(request: FastifyRequest, reply: FastifyReply): PersonVisit {
  const visit = senders.get(request);
  if (!visit) throw new SignedOut(admitAnybody(request, reply));
  if (!isFormToken(visit.secret, new Form(request.body).raw(formFields.token))) throw new ForeignForm();
  return visit;
}

function assertOurs({ config }: ConsoleContext, request: FastifyRequest): void {
  if (!isFromOurPages(request, config.CONSOLE_ORIGIN)) throw new ForeignForm();
}

function asPerson<T>(visit: PersonVisit | MerchantVisit, work: () => Promise<T>): Promise<T> {
  const merchantStatus = "merchantId" in visit ? visit.membership.merchantStatus : "";
  const actor = visit.session.person?.id ?? "";
  return runInZone(visit.timeZone, () => as(visit.request, actor, work, merchantStatus));
}

/** Adds the request id, the actor and the merchant's status to the service calls of the work. */
function as<T>(request: FastifyRequest, actor: string, work: () => Promise<T>, merchantStatus = ""): Promise<T> {
  const call: CallContext = { ...request.call, actor, merchantStatus };
  request.call = call;
  return callContext.run(call, work);
}

async function sendAnswer(
  reply: FastifyReply,
  answer: Answer | FastifyReply,
  layout: (page: Page) => Html,
): Promise<FastifyReply> {
  if ("body" in answer) return await sendPage(reply, answer.status ?? 200, layout(answer));
  if ("go" in answer) return await redirect(reply, answer);
  return answer;
}

/** Redirects by GET (303), so a reload does not repeat the form. */
async function redirect(reply: FastifyReply, { go, done }: Redirect): Promise<FastifyReply> {
  const mark = go.includes("?") ? "&" : "?";
  return await reply
    .header("cache-control", "no-store")
    .redirect(done === undefined ? go : `${go}${mark}done=${done}`, 303);
}
