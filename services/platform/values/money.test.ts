// Compares the currency table with the list's own marks, and with codes written out.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { suite } from "../../../test/harness/suite.ts";
import { currencyExponent, knownCurrencies } from "./money.ts";

const test = suite("currencies");
const listFile = createRequire(import.meta.url).resolve("currency-codes/iso-4217-list-one.xml");
const entries = readFileSync(listFile, "utf8").split("<CcyNtry>").slice(1);

/** The publisher's entry: "N.A." units for codes without decimals. */
function entryOf(xml: string) {
  const [, code = ""] = /<Ccy>([A-Z]{3})<\/Ccy>/.exec(xml) ?? [];
  const [, units = ""] = /<CcyMnrUnts>([^<]+)<\/CcyMnrUnts>/.exec(xml) ?? [];
  return { code, units, isFund: xml.includes('IsFund="true"') };
}

test("the table is the ISO list without funds, metals, test codes and units with four decimals, and with XCG", () => {
  const listed = entries.map(entryOf).filter(({ code }) => code !== "");
  assert.ok(listed.length > 250, "the list is read");
  const money = listed.filter(({ units, isFund }) => !isFund && ["0", "2", "3"].includes(units));
  const expected = new Map(money.map(({ code, units }) => [code, Number(units)]));
  expected.set("XCG", 2);
  const found = new Map(knownCurrencies().map((code) => [code, currencyExponent(code)]));
  assert.deepEqual(new Map([...found].sort()), new Map([...expected].sort()));
});

test("rejects codes that are not money", () => {
  const funds = "BOV CHE CHW CLF COU MXV USN UYI UYW XAD XBA XBB XBC XBD XDR XSU XUA".split(" ");
  const metals = "XAG XAU XPD XPT".split(" ");
  const others = "XTS XXX ABC ZZZ eur DEM".split(" ");
  for (const code of [...funds, ...metals, ...others, ""]) assert.equal(currencyExponent(code), undefined, code);
});

test("each kind of money has its decimals", () => {
  const decimals = {
    0: "JPY KRW ISK CLP UGX VND XAF XOF XPF",
    2: "EUR USD MGA MRU HUF UYU MXN XCD XCG",
    3: "BHD IQD JOD KWD LYD OMR TND",
  };
  for (const [digits, codes] of Object.entries(decimals)) {
    for (const code of codes.split(" ")) assert.equal(currencyExponent(code), Number(digits), code);
  }
});

test.run();
