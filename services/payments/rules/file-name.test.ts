// A stored file name is one short line without folders, whatever a browser sent.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { cleanFileName } from "./file-name.ts";

const test = suite("file name");

test("keeps a name, and removes folders, control characters, text directions and what is too long", () => {
  const cases = [
    ["Lieferschein März.pdf", "Lieferschein März.pdf"],
    ["C:\\Users\\Ada\\receipt.png", "receipt.png"],
    ["../../etc/passwd", "passwd"],
    ["a\r\nSet-Cookie: x=1.pdf", "aSet-Cookie: x=1.pdf"],
    ["in\u202efdp.exe", "infdp.exe"],
    ["  a \t b.pdf ", "a b.pdf"],
    ["folder/", ""],
    ["\0", ""],
  ] as const;
  for (const [sent, stored] of cases) assert.equal(cleanFileName(sent), stored, JSON.stringify(sent));
  const long = cleanFileName(`${"😀".repeat(300)}.pdf`);
  assert.deepEqual([[...long].length, long.endsWith("😀.pdf")], [100, true]);
  assert.equal([...cleanFileName(`a.${"b".repeat(300)}`)].length, 100);
});

test.run();
