// Uploads a logo, which the gateway serves. Without the gateway's address (API_ORIGIN) only a URL can be set.
import { type Html, html } from "../../../html.ts";
import { formFields, unlessRefused } from "../../http/form.ts";
import type { Upload } from "../../http/upload.ts";
import { merchantUpload } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { hiddenField, renderAlert } from "../../view/fields.ts";
import { shownEnvironment } from "../../view/from-sandbox.ts";

const logoMaxBytes = 512 * 1_024;

export function brandingLogoRoutes(
  context: ConsoleContext,
  refuse: (visit: MerchantVisit, problem: string) => Promise<Answer>,
): void {
  const { peers, config } = context;
  merchantUpload(context, "/branding/logo", { action: "branding.write" }, async (visit, _, file) => {
    const { merchantId, environment, base, language } = visit;
    const content = file && (await readLogo(file));
    const origin = config.API_ORIGIN;
    const stored =
      content &&
      origin !== undefined &&
      (await unlessRefused(peers.merchants.uploadLogo({ merchantId, environment, content, origin }), "INVALID_BODY"));
    if (!stored) return await refuse(visit, textsOf(language).branding.logoWrong);
    return { go: `${base}/branding`, done: "branding-saved" };
  });
}

/** @returns undefined for an empty file and one over the limit */
async function readLogo({ file }: NonNullable<Upload["file"]>): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of file) {
    size += piece.length;
    if (size > logoMaxBytes) return undefined;
    pieces.push(piece);
  }
  return size === 0 ? undefined : Buffer.concat(pieces);
}

/** Absent where the live page shows the sandbox's values. */
export function logoForm({ config }: ConsoleContext, visit: MerchantVisit, problem: string): Html {
  const texts = textsOf(visit.language).branding;
  if (config.API_ORIGIN === undefined || shownEnvironment(visit) !== visit.environment) return html``;
  return html`<form method="post" action="${visit.base}/branding/logo" enctype="multipart/form-data" class="panel">${hiddenField(formFields.token, visit.token)}
<div class="field"><label for="logo">${texts.logoFile}</label><p class="hint" id="logo-hint">${texts.logoFileHint}</p>${renderAlert(problem)}
<input id="logo" name="logo" type="file" accept="image/png,image/jpeg,image/webp" aria-describedby="logo-hint" required></div>
<button class="button secondary">${texts.logoUpload}</button></form>`;
}
