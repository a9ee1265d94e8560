// A mail's content, and how it is drawn as plain text and as HTML: one column, the sender's name and colour, nothing
// that is loaded from anywhere.

/** What it is called, and what it is. */
export type MailRow = readonly [name: string, value: string];

export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Amounts below each other, the last of which is their sum. */
  readonly table?: readonly MailRow[];
  readonly facts?: readonly MailRow[];
  readonly button?: { readonly label: string; readonly url: string };
  /** Small, at the end. */
  readonly notes: readonly string[];
  /** BCP 47, where it is not for people of the consoles. */
  readonly language?: string;
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
  /** In whose name it is sent, from our own address; absent: ours. */
  readonly senderName?: string;
  /** Who is answered; absent: whoever sends it. */
  readonly replyTo?: string;
}

export function drawText(content: MailContent, brand: MailBrand): string {
  const { paragraphs, table = [], facts = [], button, notes } = content;
  const rows = (of: readonly MailRow[]) => (of.length > 0 ? [of.map((row) => row.join(": ")).join("\n")] : []);
  const link = button ? [`${button.label}:\n${button.url}`] : [];
  const parts = [...paragraphs, ...rows(table), ...rows(facts), ...link, "-- ", ...notes, brand.name];
  return `${parts.join("\n\n")}\n`;
}

const rightToLeft = new Set(["ar"]);

export function drawHtml(content: MailContent, brand: MailBrand): string {
  const { subject, paragraphs, table = [], facts = [], button, notes, language } = content;
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
  const isRight = rightToLeft.has((language ?? "").split("-")[0] ?? "");
  const spoken = language ? ` lang="${escapeHtml(language)}" dir="${isRight ? "rtl" : "ltr"}"` : "";
  return (
    `<!doctype html><html${spoken}><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light">` +
    `<title>${escapeHtml(subject)}</title></head><body style="margin:0;background:#f3f4f6">` +
    `<div style="max-width:560px;margin:0 auto;padding:24px;background:#ffffff;color:#111827;font-size:16px;` +
    `line-height:1.5;${font}"><p style="margin:0 0 24px;padding-bottom:12px;border-bottom:4px solid ${color};` +
    `font-weight:600">${escapeHtml(brand.name)}</p>${paragraphs.map(paragraph).join("")}` +
    `${drawTable(table, isRight)}${drawFacts(facts, isRight)}${link}` +
    `<div style="margin-top:32px;padding-top:12px;border-top:1px solid #d1d5db;font-size:13px;color:#4b5563">` +
    `${small}</div></div></body></html>`
  );
}

// `align` beside the style: some mail programs know nothing else.
const tableStart = `<table role="presentation" width="100%" cellspacing="0" cellpadding="0" style="margin:0 0 24px">`;

function drawTable(rows: readonly MailRow[], isRight: boolean): string {
  if (rows.length === 0) return "";
  const [start, end] = isRight ? ["right", "left"] : ["left", "right"];
  const drawn = rows.map(([name, value], i) => {
    const isSum = i === rows.length - 1;
    const cell = `padding:8px 0;vertical-align:top${isSum ? ";border-top:2px solid #111827;font-weight:600" : ""}`;
    return (
      `<tr><td align="${start}" style="${cell}">${own(name)}</td>` +
      `<td align="${end}" style="${cell};white-space:nowrap;padding-${start}:16px">${own(value)}</td></tr>`
    );
  });
  return `${tableStart}${drawn.join("")}</table>`;
}

function drawFacts(rows: readonly MailRow[], isRight: boolean): string {
  if (rows.length === 0) return "";
  const [start, end] = isRight ? ["right", "left"] : ["left", "right"];
  const drawn = rows.map(
    ([name, value]) =>
      `<tr><td align="${start}" style="padding:4px 0;padding-${end}:16px;vertical-align:top;color:#4b5563">` +
      `${escapeHtml(name)}</td><td align="${start}" width="70%" style="padding:4px 0;word-break:break-word">` +
      `${own(value)}</td></tr>`,
  );
  return `${tableStart}${drawn.join("")}</table>`;
}

/** Text of another direction than the mail's stays in one piece. */
function own(text: string): string {
  return `<bdi>${escapeHtml(text)}</bdi>`;
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
