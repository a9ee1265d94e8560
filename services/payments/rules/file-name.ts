// The name of an uploaded file as it is stored and shown: the sender's browser wrote it, so everything that could act
// as a path, a header or another text is removed. Pure.

const charactersMax = 100;
const endingMax = 10;

/** @returns the name without its folders; empty: no character can be kept */
export function cleanFileName(sent: string): string {
  const name = sent.split(/[\\/]/).at(-1) ?? "";
  const shown = name
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  const [characters, dot] = [[...shown], shown.lastIndexOf(".")];
  if (characters.length <= charactersMax) return shown;
  // People recognize a file by its ending.
  const ending = dot > 0 ? [...shown.slice(dot)].slice(0, endingMax).join("") : "";
  return `${characters.slice(0, charactersMax - [...ending].length).join("")}${ending}`;
}
