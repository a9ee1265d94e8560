// Evidence in words as a PDF: Adyen takes documents only. Plain text in Helvetica; a character outside Windows-1252,
// which the standard fonts lack, becomes a question mark.

interface Section {
  readonly title: string;
  readonly text: string;
}

const [lineCharacters, linesPerPage] = [95, 66] as const;

export function textPdf(sections: readonly Section[]): Buffer {
  const lines = sections.flatMap(({ title, text }) => [title.toUpperCase(), ...wrap(text), ""]);
  const pages = [];
  for (let at = 0; at < lines.length; at += linesPerPage) pages.push(lines.slice(at, at + linesPerPage));
  // Objects 1 to 3 are the catalog, the list of pages and the font; each page has two more.
  const pageRefs = pages.map((_, i) => `${4 + 2 * i} 0 R`);
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pageRefs.join(" ")}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ...pages.flatMap((page, i) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${5 + 2 * i} 0 R /Resources << /Font << /F 3 0 R >> >> >>`,
      streamOf(page),
    ]),
  ];
  return documentOf(objects);
}

function streamOf(lines: readonly string[]): string {
  const shown = lines.map((line) => `(${escaped(line)}) '`).join("\n");
  const content = `BT /F 10 Tf 12 TL 40 812 Td\n${shown}\nET`;
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

function documentOf(objects: readonly string[]): Buffer {
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const at = body.length;
    body += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}trailer\n<< /Size ${size} /Root 1 0 R >>\n`;
  return Buffer.from(`${body}${table}startxref\n${body.length}\n%%EOF\n`, "latin1");
}

function wrap(text: string): string[] {
  return text.split(/\r?\n/).flatMap((paragraph) => {
    const lines = [""];
    for (const word of paragraph.split(" ").flatMap(pieces)) {
      const line = lines.at(-1) ?? "";
      if (line !== "" && line.length + word.length >= lineCharacters) lines.push(word);
      else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
    }
    return lines;
  });
}

/** A word without spaces can be longer than a line. */
function pieces(word: string): string[] {
  return word.match(new RegExp(`.{1,${lineCharacters - 1}}`, "gu")) ?? [""];
}

function escaped(line: string): string {
  return line
    .normalize("NFC")
    .replace(/[^\x20-\x7e\xa0-\xff]/gu, "?")
    .replace(/[\\()]/g, "\\$&");
}
