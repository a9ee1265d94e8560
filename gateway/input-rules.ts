// What JSON and HTTP leave open, decided: one table for the docs and for the test that sends each row to the real
// gateway. The requests are those of POST /v1/checkout-sessions unless a row says otherwise.

/** How an unusual input is read. */
export interface InputRule {
  readonly input: string;
  /** HTTP status of the example. */
  readonly status: number;
  /** For people; `code` in backticks. */
  readonly answer: string;
  /** The raw body that shows it. */
  readonly body?: string;
  /** The query of GET /v1/payments that shows it, instead of a body. */
  readonly query?: string;
}

const rest = '"currency":"EUR"';
// Lone surrogates and NUL can only be written escaped in valid UTF-8 JSON.
const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** Every decided case. */
export const inputRules: readonly InputRule[] = [
  {
    input: "1e3 for an integer",
    status: 201,
    answer: "The number 1000: JSON has one kind of number.",
    body: `{"amount":1e3,${rest}}`,
  },
  { input: "1.0 for an integer", status: 201, answer: "The number 1, likewise.", body: `{"amount":1.0,${rest}}` },
  {
    input: "1.5 for an integer",
    status: 400,
    answer: "`invalid_body`: must be an integer.",
    body: `{"amount":1.5,${rest}}`,
  },
  {
    input: '"100" for an integer',
    status: 400,
    answer: "`invalid_body`: text is never turned into a number.",
    body: `{"amount":"100",${rest}}`,
  },
  {
    input: "-0 as an amount",
    status: 400,
    answer: "`invalid_body`: it is 0, which is below 1.",
    body: `{"amount":-0,${rest}}`,
  },
  {
    input: "2^53 as an amount",
    status: 400,
    answer: "`invalid_body`: above the largest amount.",
    body: `{"amount":9007199254740992,${rest}}`,
  },
  {
    input: "1e400 as an amount",
    status: 400,
    answer: "`invalid_body`: not a number that can be held.",
    body: `{"amount":1e400,${rest}}`,
  },
  { input: "NaN, Infinity", status: 400, answer: "`invalid_body`: not JSON.", body: `{"amount":NaN,${rest}}` },
  {
    input: "null for a field",
    status: 400,
    answer: "`invalid_body`, but where a field says that null clears it.",
    body: `{"amount":100,${rest},"description":null}`,
  },
  {
    input: "true for text",
    status: 400,
    answer: "`invalid_body`: nothing is converted.",
    body: `{"amount":100,${rest},"description":true}`,
  },
  {
    input: "an unknown field",
    status: 400,
    answer:
      "`invalid_body`, with the known name that was probably meant. Of profile, branding, connectors, API keys and new applications it is passed over and named in `Ignored-Fields`.",
    body: `{"amount":100,${rest},"desciption":"Order 1042"}`,
  },
  {
    input: "a name given twice in one object",
    status: 400,
    answer: "`invalid_body`: programs disagree on which one counts.",
    body: `{"amount":100,"amount":200,${rest}}`,
  },
  {
    input: "__proto__ as a name, anywhere",
    status: 400,
    answer: "`invalid_body`.",
    body: `{"amount":100,${rest},"metadata":{"__proto__":"x"}}`,
  },
  {
    input: "constructor as a metadata name",
    status: 201,
    answer: "A name like any other.",
    body: `{"amount":100,${rest},"metadata":{"constructor":"x"}}`,
  },
  {
    input: "a NUL character in text",
    status: 400,
    answer: "`invalid_body`.",
    body: `{"amount":100,${rest},"description":"a\\u0000b"}`,
  },
  {
    input: "half of a surrogate pair",
    status: 400,
    answer: "`invalid_body`: not well-formed Unicode.",
    body: `{"amount":100,${rest},"description":"\\ud800"}`,
  },
  {
    input: "nesting deeper than 32 levels",
    status: 400,
    answer: "`invalid_body`.",
    body: `{"amount":100,${rest},"x":${deep(33)}}`,
  },
  {
    input: "an array or a text as the body",
    status: 400,
    answer: "`invalid_body`: must be a JSON object.",
    body: "[]",
  },
  {
    input: "a comma after the last field",
    status: 400,
    answer: "`invalid_body`: not JSON.",
    body: `{"amount":100,${rest},}`,
  },
  { input: "a comment", status: 400, answer: "`invalid_body`: not JSON.", body: `{"amount":100,/* */${rest}}` },
  {
    input: "no body, where fields are required",
    status: 400,
    answer: "`invalid_body`: read as an empty object.",
    body: "",
  },
  { input: "limit=0, limit=201, limit=-1", status: 400, answer: "`invalid_body`: 1 to 200.", query: "limit=201" },
  {
    input: "limit=1e1, limit=5.0, limit=05, limit=+5, limit=",
    status: 400,
    answer: "`invalid_body`: canonical decimal only.",
    query: "limit=1e1",
  },
  { input: "a parameter given twice", status: 400, answer: "`invalid_body`.", query: "limit=5&limit=5" },
  {
    input: "min_amount=9223372036854775807",
    status: 200,
    answer: "The largest int64, a bound like any other.",
    query: "min_amount=9223372036854775807",
  },
  {
    input: "min_amount=9223372036854775808",
    status: 400,
    answer: "`invalid_body`: no int64.",
    query: "min_amount=9223372036854775808",
  },
  { input: "%00 in a parameter", status: 400, answer: "`invalid_body`.", query: "q=%00" },
  {
    input: "%ff, or other bytes that are not UTF-8, in a parameter",
    status: 400,
    answer: "`invalid_body`: must be UTF-8.",
    query: "q=%ff",
  },
  {
    input: "an unknown parameter",
    status: 400,
    answer: "`invalid_body`, with the known name that was probably meant.",
    query: "stauts=succeeded",
  },
  {
    input: "from=2025-02-30",
    status: 400,
    answer: "`invalid_body`: the calendar has no such day.",
    query: "from=2025-02-30",
  },
];
