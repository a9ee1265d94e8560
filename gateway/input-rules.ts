// Decides the cases that JSON and HTTP leave open. The docs print this table, and a test sends each row to a gateway:
// to POST /v1/checkout-sessions, or to GET /v1/payments if the row has a query.

interface InputRule {
  readonly input: string;
  /** HTTP status of the example. */
  readonly status: number;
  readonly answer: string;
  readonly body?: string;
  readonly query?: string;
}

const rest = '"currency":"EUR"';
const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

export const inputRules: readonly InputRule[] = [
  {
    input: "1e3 for an integer",
    status: 201,
    answer: "The number 1000: JSON has one kind of number.",
    body: `{"amount":1e3,${rest}}`,
  },
  { input: "1.0 for an integer", status: 201, answer: "The number 1.", body: `{"amount":1.0,${rest}}` },
  {
    input: "1.5 for an integer",
    status: 400,
    answer: "`invalid_body`: must be an integer.",
    body: `{"amount":1.5,${rest}}`,
  },
  {
    input: '"100" for an integer',
    status: 400,
    answer: "`invalid_body`: text is never converted to a number.",
    body: `{"amount":"100",${rest}}`,
  },
  {
    input: "-0 as an amount",
    status: 400,
    answer: "`invalid_body`: equals 0, which is below 1.",
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
    answer: "`invalid_body`: out of range for a number.",
    body: `{"amount":1e400,${rest}}`,
  },
  { input: "NaN, Infinity", status: 400, answer: "`invalid_body`: not JSON.", body: `{"amount":NaN,${rest}}` },
  {
    input: "null for a field",
    status: 400,
    answer: "`invalid_body`, unless the field's description states that null clears it.",
    body: `{"amount":100,${rest},"description":null}`,
  },
  {
    input: "true for text",
    status: 400,
    answer: "`invalid_body`: types are never converted.",
    body: `{"amount":100,${rest},"description":true}`,
  },
  {
    input: "an unknown field",
    status: 400,
    answer:
      "`invalid_body`, with the most similar known name. For profile, branding, connectors, API keys and new applications it is ignored and listed in `Ignored-Fields`.",
    body: `{"amount":100,${rest},"desciption":"Order 1042"}`,
  },
  {
    input: "a name given twice in one object",
    status: 400,
    answer: "`invalid_body`: parsers disagree on which value counts.",
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
    input: "an unpaired surrogate",
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
    input: "an array or a string as the body",
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
    answer: "The largest int64 is a valid bound.",
    query: "min_amount=9223372036854775807",
  },
  {
    input: "min_amount=9223372036854775808",
    status: 400,
    answer: "`invalid_body`: outside int64.",
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
    answer: "`invalid_body`, with the most similar known name.",
    query: "stauts=succeeded",
  },
  {
    input: "from=2025-02-30",
    status: 400,
    answer: "`invalid_body`: the date does not exist.",
    query: "from=2025-02-30",
  },
];
