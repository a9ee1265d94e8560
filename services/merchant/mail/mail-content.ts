// Renders a mail's content as plain text and as HTML: one column in the sender's name and colour, without external
// resources.
import type { NotificationKind } from "../rules/people/notifications.ts";

type MailRow = readonly [name: string, value: string];

export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Amounts; the last one is the total. */
  readonly table?: readonly MailRow[];
  readonly facts?: readonly MailRow[];
  readonly button?: { readonly label: string; readonly url: string };
  readonly notes: readonly string[];
  /** BCP 47; only in mails to buyers. */
  readonly language?: string;
}

export interface MailBrand {
  readonly name: string;
  /** `#rrggbb`. */
  readonly color: string;
}

export interface RenderedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** One-click unsubscribe (RFC 8058); absent in transactional mails. */
  readonly unsubscribeUrl?: string;
  /** The sender's display name; absent for our own. */
  readonly senderName?: string;
  readonly replyTo?: string;
}

export function renderText(content: MailContent, brand: MailBrand): string {
  const { paragraphs, table = [], facts = [], button, notes } = content;
  const rows = (of: readonly MailRow[]) => (of.length > 0 ? [of.map((row) => row.join(": ")).join("\n")] : []);
  const link = button ? [`${button.label}:\n${button.url}`] : [];
  const parts = [...paragraphs, ...rows(table), ...rows(facts), ...link, "-- ", ...notes, brand.name];
  return `${parts.join("\n\n")}\n`;
}

const rightToLeft = new Set(["ar"]);

export function renderHtml(content: MailContent, brand: MailBrand): string {
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
  const languageAttributes = language ? ` lang="${escapeHtml(language)}" dir="${isRight ? "rtl" : "ltr"}"` : "";
  return (
    `<!doctype html><html${languageAttributes}><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light">` +
    `<title>${escapeHtml(subject)}</title></head><body style="margin:0;background:#f3f4f6">` +
    `<div style="max-width:560px;margin:0 auto;padding:24px;background:#ffffff;color:#111827;font-size:16px;` +
    `line-height:1.5;${font}"><p style="margin:0 0 24px;padding-bottom:12px;border-bottom:4px solid ${color};` +
    `font-weight:600">${escapeHtml(brand.name)}</p>${paragraphs.map(paragraph).join("")}` +
    `${renderTable(table, isRight)}${renderFacts(facts, isRight)}${link}` +
    `<div style="margin-top:32px;padding-top:12px;border-top:1px solid #d1d5db;font-size:13px;color:#4b5563">` +
    `${small}</div></div></body></html>`
  );
}

// `align` in addition to the style, for mail programs that ignore styles.
const tableStart = `<table role="presentation" width="100%" cellspacing="0" cellpadding="0" style="margin:0 0 24px">`;

function renderTable(rows: readonly MailRow[], isRight: boolean): string {
  if (rows.length === 0) return "";
  const [start, end] = isRight ? ["right", "left"] : ["left", "right"];
  const rendered = rows.map(([name, value], i) => {
    const isSum = i > 0 && i === rows.length - 1;
    const weight = i === rows.length - 1 ? ";font-weight:600" : "";
    const cell = `padding:8px 0;vertical-align:top${weight}${isSum ? ";border-top:2px solid #111827" : ""}`;
    return (
      `<tr><td align="${start}" style="${cell}">${isolate(name)}</td>` +
      `<td align="${end}" style="${cell};white-space:nowrap;padding-${start}:16px">${isolate(value)}</td></tr>`
    );
  });
  return `${tableStart}${rendered.join("")}</table>`;
}

function renderFacts(rows: readonly MailRow[], isRight: boolean): string {
  if (rows.length === 0) return "";
  const [start, end] = isRight ? ["right", "left"] : ["left", "right"];
  const rendered = rows.map(
    ([name, value]) =>
      `<tr><td align="${start}" style="padding:4px 0;padding-${end}:16px;vertical-align:top;color:#4b5563">` +
      `${escapeHtml(name)}</td><td align="${start}" width="70%" style="padding:4px 0;word-break:break-word">` +
      `${escapeHtml(value)}</td></tr>`,
  );
  return `${tableStart}${rendered.join("")}</table>`;
}

/** Isolates text of another writing direction. */
function isolate(text: string): string {
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

interface InvitationFacts {
  readonly link: string;
  /** Empty for the installation. */
  readonly merchantName: string;
  readonly role: string;
  /** Empty for an operator. */
  readonly inviterName: string;
}

export interface BrowserFacts {
  readonly address: string;
  /** The raw user agent, which must not appear in a mail (rules/browser-name.ts). */
  readonly agent: string;
}

export interface MatterFacts {
  readonly link: string;
  readonly merchantName: string;
  readonly isSandbox: boolean;
  /** The object's id, its name or amounts. */
  readonly object: string;
  /** The due or expiry date as `2026-11-25`; may be empty. */
  readonly date: string;
}

interface StandingFacts {
  readonly link: string;
  readonly merchantName: string;
  readonly status: "active" | "suspended" | "closed";
  /** An operator's words; may be empty. */
  readonly reason: string;
}

export interface MailTexts {
  invitation(facts: InvitationFacts): MailContent;
  signInLink(facts: { readonly link: string } & BrowserFacts): MailContent;
  signInMethodAdded(facts: { readonly link: string } & BrowserFacts): MailContent;
  newBrowser(facts: { readonly link: string } & BrowserFacts): MailContent;
  readonly matters: Readonly<Record<NotificationKind, (facts: MatterFacts) => MailContent>>;
  standingChanged(facts: StandingFacts): MailContent;
}
