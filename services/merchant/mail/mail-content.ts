// A mail's content, and how it is drawn as plain text and as HTML: one column, the sender's name and colour, nothing
// that is loaded from anywhere.

export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly button?: { readonly label: string; readonly url: string };
  /** Small, at the end. */
  readonly notes: readonly string[];
}

/** Whose mail it is. */
export interface MailBrand {
  readonly name: string;
  /** `#rrggbb`. */
  readonly color: string;
}

/** A mail as it is sent. */
export interface DrawnMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Where one request ends mails of this kind (RFC 8058); absent: it is transactional. */
  readonly unsubscribeUrl?: string;
}

export function drawText({ paragraphs, button, notes }: MailContent, brand: MailBrand): string {
  const parts = [...paragraphs, ...(button ? [`${button.label}:\n${button.url}`] : []), "-- ", ...notes, brand.name];
  return `${parts.join("\n\n")}\n`;
}

export function drawHtml({ subject, paragraphs, button, notes }: MailContent, brand: MailBrand): string {
  const color = /^#[0-9a-fA-F]{6}$/.test(brand.color) ? brand.color : "#1f2937";
  const font = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
  const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`;
  const link = button
    ? `<p style="margin:24px 0"><a href="${escapeHtml(button.url)}" style="display:inline-block;padding:12px 20px;` +
      `border:2px solid ${color};border-radius:6px;color:#111827;text-decoration:none;font-weight:600">` +
      `${escapeHtml(button.label)}</a></p><p style="margin:0 0 16px;font-size:13px;word-break:break-all">` +
      `${escapeHtml(button.url)}</p>`
    : "";
  const small = notes.map((note) => `<p style="margin:0 0 8px">${escapeHtml(note)}</p>`).join("");
  return (
    `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${escapeHtml(subject)}</title></head><body style="margin:0;background:#f3f4f6">` +
    `<div style="max-width:560px;margin:0 auto;padding:24px;background:#ffffff;color:#111827;font-size:16px;` +
    `line-height:1.5;${font}"><p style="margin:0 0 24px;padding-bottom:12px;border-bottom:4px solid ${color};` +
    `font-weight:600">${escapeHtml(brand.name)}</p>${paragraphs.map(paragraph).join("")}${link}` +
    `<div style="margin-top:32px;padding-top:12px;border-top:1px solid #d1d5db;font-size:13px;color:#4b5563">` +
    `${small}</div></div></body></html>`
  );
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
